import {
  type Commit,
  type Committed,
  type FoundTurn,
  parseCancel,
  parseProgress,
  type QuestionRows,
  type SharedTables,
  StorageError,
  type StoredTask,
  type TaskKey,
  type TaskQuestion,
} from 'parley-a2a/storage-engine';
import { addQuestion, ChangeTexts, type LogLimits } from './change-texts.js';
import { type KeptKey, sharedKeyOf } from './kept-keys.js';
import type { RedisCalls } from './redis-calls.js';
import type { StoredTasks } from './stored-tasks.js';
import { headOf, type KnownHead, type RedisHead, recordText, storedOf, type TaskContent } from './task-texts.js';
import type { UnreadableTasks } from './unreadable-tasks.js';

/** The rows of a question as returned by the scripts. */
type RowsAnswer = readonly [
  now: string,
  isBlocked: 0 | 1,
  head: KnownHead,
  sameTurn:
    | readonly [turn: string, fields: readonly [counts: string, checkpoint: string | null, cancel: string | null]]
    | null,
  key: KeptKey | null,
  isConfigKnown: 0 | 1,
  tail: readonly string[] | null,
  cancel: string | null,
];

type ChangeAnswer =
  | 1
  | readonly [1, head: string, isDue: 0 | 1, now?: string, content?: TaskContent | null, cancel?: string | null]
  | readonly [0, rows: RowsAnswer];

/** The tables of the engine in Redis. Each call is one script. */
export class RedisTables implements SharedTables<RedisHead> {
  readonly #calls: RedisCalls;
  readonly #tasks: StoredTasks;
  readonly #unreadable: UnreadableTasks;
  readonly #limits: LogLimits;

  constructor(
    calls: RedisCalls,
    parts: { readonly tasks: StoredTasks; readonly unreadable: UnreadableTasks; readonly limits: LogLimits },
  ) {
    this.#calls = calls;
    this.#tasks = parts.tasks;
    this.#unreadable = parts.unreadable;
    this.#limits = parts.limits;
  }

  async load(question: TaskQuestion): Promise<QuestionRows<RedisHead>> {
    const place = this.#calls.keys.ofTask(question.task);
    const args: (string | number)[] = [place.name];
    addQuestion(args, question);
    return rowsOf(question, await this.#calls.run<RowsAnswer>('load', place, args));
  }

  async commit({ change, question, wishes }: Commit<RedisHead>): Promise<Committed<RedisHead>> {
    const { task, before } = change;
    const place = this.#calls.keys.ofTask(task);
    const texts = new ChangeTexts(change, this.#limits);
    const args: (string | number)[] = [place.name];
    // The key and the configuration are parts of the change, and the script has the records to compare.
    const configId = change.config === undefined ? question.configId : undefined;
    texts.addTo(args, { cancel: question.cancel, configId, whole: wishes.task });
    const answer = await this.#calls.run<ChangeAnswer>('change', place, args);
    const contextId = change.create?.task.contextId ?? before?.contextId;
    if (answer === 1) return { kind: 'committed', head: { ...texts.head, contextId, hasEnded: false }, isDue: false };
    if (answer[0] === 0) {
      // A message that may be a repeat is searched for by a separate call.
      return question.sameTurn === undefined ? { kind: 'moved', rows: rowsOf(question, answer[1]) } : { kind: 'moved' };
    }
    const [, text, isDue, now, content, request] = answer;
    const known = headOf([text, texts.head.holder?.node ?? null, null]);
    if (known === undefined) throw new StorageError(`The script did not answer the head of the task ${task.id}`);
    return {
      kind: 'committed',
      head: { ...known, contextId },
      isDue: isDue === 1,
      ...(content && {
        task: this.#unreadable.required(task, () => storedOf(task, content, Number(now))),
      }),
      ...(request && { cancel: parseCancel(request) }),
    };
  }

  async remove(task: TaskKey, before: RedisHead): Promise<boolean> {
    const place = this.#calls.keys.ofTask(task);
    const args = [place.name, place.scope, place.agent, task.id, before.text];
    return (await this.#calls.run<0 | 1>('delete', place, args)) === 1;
  }

  readTask(task: TaskKey): Promise<StoredTask | undefined> {
    return this.#tasks.task(task);
  }
}

function rowsOf({ tail }: TaskQuestion, answer: RowsAnswer): QuestionRows<RedisHead> {
  const [now, isBlocked, known, sameTurn, key, isConfigKnown, records, cancel] = answer;
  const head = headOf(known);
  return {
    now: Number(now),
    isBlocked: isBlocked === 1,
    head,
    sameTurn: sameTurn === null ? undefined : foundTurn(sameTurn),
    key: key === null ? undefined : sharedKeyOf(key),
    configs: { count: head?.configs ?? 0, isKnown: isConfigKnown === 1 },
    isInLog: records !== null && tail?.records.every((record, at) => recordText(record) === records[at]) === true,
    cancel: cancel === null ? undefined : parseCancel(cancel),
  };
}

function foundTurn([turn, [counts, checkpoint, cancel]]: NonNullable<RowsAnswer[3]>): FoundTurn {
  const [attempts, handOvers] = counts.split(' ');
  return {
    turn: Number(turn),
    attempts: Number(attempts),
    handOvers: Number(handOvers),
    ...parseProgress({ checkpoint, cancel }),
  };
}
