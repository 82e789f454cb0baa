import { StorageError } from '../../errors/storage-error.js';
import { isTerminal } from '../../model/task-state.js';
import type { LogRecord } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { statusTime } from '../../task/status-time.js';
import { type AppendDecision, type AppendedHead, checkAppend, decideAppend } from '../rules/decide-append.js';
import { waitingIn } from '../rules/task-head.js';
import type { Append, AppendOutcome } from '../task-storage.js';
import type { RedisCalls } from './redis-calls.js';
import type { TaskPlace } from './redis-keys.js';
import { headOf, type KnownHead, type RedisHead, recordText, stateNumber, statusText } from './task-texts.js';

type AppendAnswer = readonly [1, waiting: number, isDue: 0 | 1] | readonly [0, now: string, head: KnownHead];

/** Bounds of logs, in bytes. */
export interface LogLimits {
  /** A task that goes on and on keeps so much of its log at least half. */
  readonly logBytes: number;
  /** The logs of the finished tasks of one partition take so much at most. */
  readonly tailBytes: number;
}

/** So often is a decision made again, because the task changed meanwhile. */
const ATTEMPTS = 16;

/** The outcome of an append, and whether a delivery became due. */
export interface Appended {
  readonly outcome: AppendOutcome;
  readonly isDue: boolean;
}

/** Adds records to the log of a task, if the writer has the right to. */
export async function appendRecords(calls: RedisCalls, append: Append, limits: LogLimits): Promise<Appended> {
  checkAppend(append);
  const { authority, after, records, head, endsTurn } = append;
  const place = calls.keys.ofTask(append.key);
  const request = { authority, after, count: records.length, ends: isTerminal(head.status.state), endsTurn };
  const texts = records.map(recordText);
  const before = fieldsOf(place, append, limits);
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  let decided: readonly (string | number)[] = ['', '', '', '', ''];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const answer = await calls.run<AppendAnswer>('append', place, [...before, ...decided, bytes, ...texts]);
    if (answer[0] === 1) return { outcome: { kind: 'appended', waiting: answer[1] }, isDue: answer[2] === 1 };
    let known = headOf(answer[2]);
    let decision = decideAppend(known, request, { now: Number(answer[1]) });
    if (decision.kind === 'compare') {
      const tail = await calls.run<readonly [string, KnownHead, readonly string[]]>('tail', place, [place.name, after]);
      known = headOf(tail[1]);
      const isInLog = tail[2].length === texts.length && tail[2].every((text, at) => text === texts[at]);
      decision = decideAppend(known, request, { now: Number(tail[0]), isInLog });
    }
    if (decision.kind !== 'appended') return { outcome: refused(decision, known), isDue: false };
    if (known === undefined) throw new TypeError('A task that is not there was appended to');
    decided = decisionFields(known.version, decision);
  }
  throw new StorageError(`The task ${append.key.id} changed ${ATTEMPTS} times during an append: repeat the call`);
}

function refused(decision: Exclude<AppendDecision, AppendedHead>, head: RedisHead | undefined): AppendOutcome {
  switch (decision.kind) {
    case 'repeated':
      return { kind: 'appended', waiting: head === undefined ? 0 : waitingIn(head) };
    case 'compare':
      throw new TypeError('An append is compared once');
    default:
      return { kind: decision.kind };
  }
}

/** The arguments of the script up to its decision. An empty text stands for what is absent. */
function fieldsOf(place: TaskPlace, append: Append, limits: LogLimits): readonly (string | number)[] {
  const { key, authority, after, records, head, snapshot, checkpoint, endsTurn } = append;
  const { status, metadata } = head;
  const ends = isTerminal(status.state);
  const texts = snapshot && ShapedTask.textsOf(snapshot);
  // Chunks of artifacts change neither the status nor the metadata.
  const changes = ends || snapshot !== undefined || records.length === 0 || !records.every(isChunk);
  return [
    place.name,
    place.scope,
    place.agent,
    key.id,
    authority,
    after,
    records.length,
    ends ? 1 : 0,
    endsTurn ?? 0,
    ...(changes
      ? [
          stateNumber(status.state),
          statusTime(status),
          texts?.status ?? statusText(status),
          metadata === undefined ? '' : JSON.stringify(metadata),
        ]
      : ['', '', '', '']),
    texts === undefined ? 0 : 1,
    texts?.history ?? '',
    texts?.artifacts ?? '',
    checkpoint === undefined || typeof authority !== 'number' ? '' : JSON.stringify(checkpoint),
    limits.logBytes,
    limits.tailBytes,
  ];
}

function isChunk({ event, history, metadata }: LogRecord): boolean {
  return 'artifactUpdate' in event && history === undefined && metadata === undefined;
}

/** The arguments of the script that carry a decision about the head of this version. */
function decisionFields(version: number, decision: AppendedHead): readonly (string | number)[] {
  const { epoch, began, holder, drops } = decision;
  return [version, epoch, began, holder === undefined ? 0 : 1, drops ?? 0];
}
