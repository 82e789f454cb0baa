import type { Redis } from 'ioredis';
import {
  type CopiedKey,
  type CopiedPushConfig,
  type CopiedTask,
  inUseError,
  type RecordTexts,
  SILENCE_MS,
  type TransferCounts,
  type TransferTarget,
} from 'parley-a2a/storage-engine';
import { RedisCalls } from './redis-calls.js';
import type { RedisConnection } from './redis-connection.js';
import { KEY } from './redis-keys.js';
import { type RedisOptions, redisSettings } from './redis-options.js';
import { RedisProcesses } from './redis-processes.js';
import { openConnection } from './redis-schema.js';
import { walkKeys } from './redis-walk.js';
import { headOf, headTextOf } from './task-texts.js';

/** Redis as the target of a copy. Each task is written separately, because it has its own partition. */
export class RedisTransfer implements TransferTarget {
  readonly #connection: RedisConnection;
  readonly #calls: RedisCalls;

  private constructor(connection: RedisConnection) {
    this.#connection = connection;
    this.#calls = new RedisCalls(connection, { prefix: connection.settings.prefix });
  }

  /**
   * Connects. It cannot exclude servers that start during the copy.
   * @throws StorageError if the servers cannot be used, or a server has used the storage in the last seconds.
   */
  static async open(options: RedisOptions): Promise<RedisTransfer> {
    const connection = await openConnection(redisSettings(options));
    const transfer = new RedisTransfer(connection);
    const processes = new RedisProcesses(transfer.#calls);
    const [now, nodes] = await Promise.all([processes.now(), processes.nodes()]);
    if (nodes.every(({ seenAt }) => seenAt < now - SILENCE_MS)) return transfer;
    await connection.close();
    throw inUseError(connection.settings.subject);
  }

  /** Scans all keys, because no list contains all tasks and keys. */
  async counts(): Promise<TransferCounts> {
    const counts = { tasks: 0, records: 0, turns: 0, pushConfigs: 0, keys: 0 };
    await this.#each(KEY.task, async (server, keys) => {
      const commands = server.pipeline();
      for (const key of keys) {
        commands.hget(key, 'h');
        commands.llen(key.replace(`}${KEY.task}`, `}${KEY.log}`));
      }
      const answers = answersOf(await commands.exec());
      for (let at = 0; at < answers.length; at += 2) {
        const head = headOf([answers[at] as string | null, null, null]);
        if (head === undefined) continue;
        counts.tasks += 1;
        counts.records += Number(answers[at + 1]);
        counts.turns += head.queue.length;
        counts.pushConfigs += head.configs;
      }
    });
    await this.#each(KEY.key, async (server, keys) => {
      const commands = server.pipeline();
      for (const key of keys) commands.hget(key, 'l');
      // A reservation has no outcome.
      for (const lease of answersOf(await commands.exec())) if (lease === '-1') counts.keys += 1;
    });
    return counts;
  }

  async putTasks(tasks: readonly CopiedTask[]): Promise<number> {
    const put = await Promise.all(tasks.map((task) => this.#putTask(task)));
    return put.filter(Boolean).length;
  }

  async putKeys(keys: readonly CopiedKey[]): Promise<void> {
    await Promise.all(
      keys.map(async ({ scope, key, digest, expiresAt, taskId, turn, reply }) => {
        const { text, ...place } = this.#calls.keys.ofKey(scope, key);
        const task = taskId === null ? '' : this.#calls.keys.ofTask({ scope, id: taskId }).name;
        const args = [place.scope, text, expiresAt, digest, task, turn ?? '', reply ?? ''];
        await this.#calls.run('putKey', place, args);
      }),
    );
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #putTask(task: CopiedTask): Promise<boolean> {
    const { name, scope, agent, ...place } = this.#calls.keys.ofTask(task);
    const { contextId, status, metadata, history, artifacts, turns, pushConfigs } = task;
    const records = task.records.map(elementOf);
    const args = [
      ...[name, scope, agent, task.id],
      headText(task, records),
      contextId === null ? '' : JSON.stringify(contextId),
      ...[status, metadata ?? '', history ?? '', artifacts ?? ''],
      ...[records.length, turns.length, pushConfigs.length],
      ...records,
      ...turns.flatMap(({ turn, attempt, handOvers, message, caller, checkpoint, cancel }) => [
        ...[turn, `${attempt} ${handOvers}`, message, caller, checkpoint ?? '', cancel ?? ''],
      ]),
      ...pushConfigs.flatMap((config) => [
        JSON.stringify(config.id),
        config.config,
        config.dueAt === null ? '' : Math.ceil(config.dueAt),
        queueText(config),
      ]),
    ];
    return (await this.#calls.run<0 | 1>('putTask', place, args)) === 1;
  }

  /** Iterates over the keys of one kind on all servers. */
  async #each(kind: string, look: (server: Redis, keys: readonly string[]) => Promise<void>): Promise<void> {
    const connection = this.#connection;
    // A scan may return a key twice.
    const seen = new Set<string>();
    const walk = walkKeys((commands) => connection.call(commands), connection.settings.prefix, `{p*}${kind}*`);
    for await (const { server, keys } of walk) {
      const fresh = keys.filter((key) => !seen.has(key));
      for (const key of fresh) seen.add(key);
      if (fresh.length > 0) await connection.call(() => look(server, fresh));
    }
  }
}

function answersOf(found: readonly (readonly [Error | null, unknown])[] | null): readonly unknown[] {
  return (found ?? []).map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
}

/** Returns a record as an element of a log: see `recordText`. */
function elementOf({ turn, event, history, metadata }: RecordTexts): string {
  if (history === null && metadata === null) return `${turn}\n${event}`;
  return `${turn}\n${event}\n${history ?? ''}${metadata === null ? '' : `\n${metadata}`}`;
}

function headText(task: CopiedTask, records: readonly string[]): string {
  return headTextOf({
    version: 0,
    seq: task.seq,
    bytes: records.reduce((sum, record) => sum + record.length, 0),
    epoch: task.epoch,
    holder: undefined,
    began: task.lastTurn,
    endedAt: task.endedAt ?? 0,
    configs: task.pushConfigs.length,
    queue: task.turns,
    turns: task.turnCount,
    state: task.state,
    since: task.statusTime,
    createdAt: task.createdAt,
  });
}

/** Returns the head of a delivery queue. The script replaces `@` by epoch, lease and order. */
function queueText({ position, dueAt, attempts, lastStatus, parked }: CopiedPushConfig): string {
  const due = dueAt === null ? -1 : Math.ceil(dueAt);
  return `${position} ${due} ${attempts} ${lastStatus ?? -1} @ ${parked === null ? 0 : 1} ${JSON.stringify([null, parked])}`;
}
