import {
  FirstTasks,
  factsOfTask,
  OPEN_STATES,
  type OwnedTaskPage,
  type OwnedTaskRange,
  PARTITIONS,
  placeOfCursor,
  type TaskKey,
} from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';
import { KEY, taskKeyOf } from './redis-keys.js';
import { type RunCommands, walkKeys } from './redis-walk.js';
import { headOf, type KnownHead } from './task-texts.js';

/** Number of entries that one command reads. */
const CHUNK = 16;

/** The dependencies of a list of all owners. */
interface OwnedTasksOptions {
  readonly calls: RedisCalls;
  readonly prefix: string;
  readonly run: RunCommands;
}

/** A sorted set of tasks by the time of the list. */
interface TaskSet {
  readonly key: string;
  readonly taskOf: (member: string) => TaskKey;
}

/**
 * Reads tasks of all owners. Finished tasks are in one set per partition. Open ones are in one set per state and scope,
 * which only a scan of all keys finds.
 */
export async function readOwnedTasks(options: OwnedTasksOptions, range: OwnedTaskRange): Promise<OwnedTaskPage> {
  const { calls, prefix, run } = options;
  const { keys } = calls;
  const first = new FirstTasks<TaskKey>(range);
  if (range.hasEnded) {
    const bases = Array.from({ length: PARTITIONS }, (_, partition) => keys.base(partition));
    const sets = bases.map((base) => ({ key: `${base}${KEY.ended}`, taskOf: taskKeyOf }));
    await addFirst(run, { sets, range, first });
  } else {
    const seen = new Set<string>();
    for await (const walked of walkKeys(run, prefix, `{p*}${KEY.state}*`)) {
      const sets = walked.keys.filter((key) => !seen.has(key)).flatMap(openSet);
      for (const { key } of sets) seen.add(key);
      await addFirst(run, { sets, range, first });
    }
  }
  const found = first.first;
  const answers = await Promise.all(found.map(({ item }) => calls.run<KnownHead>('head', keys.ofTask(item), [])));
  const now = Number(await calls.run<string>('now', { base: keys.base(0), key: keys.count(0) }, []));
  const tasks = found.flatMap(({ item, cursor }, at) => {
    const head = headOf(answers[at] ?? [null, null, null]);
    return head === undefined ? [] : [{ ...factsOfTask(item, head, { statusTime: head.since, now }), cursor }];
  });
  return { tasks, isLast: found.length < range.limit };
}

/** Returns the set of a key, if it is that of a scope and a state that is not terminal. */
function openSet(key: string): readonly TaskSet[] {
  const [, state, scope] = /^[^}]*\}state:(\d+)(\[.*)$/s.exec(key) ?? [];
  if (state === undefined || scope === undefined || !OPEN_STATES.includes(Number(state))) return [];
  return [{ key, taskOf: (id) => taskKeyOf(`${scope.slice(0, -1)},${JSON.stringify(id)}]`) }];
}

/** Adds the tasks of sets that may belong to the page. Each set is read until its tasks no longer do. */
async function addFirst(
  run: RunCommands,
  read: {
    readonly sets: readonly TaskSet[];
    readonly range: OwnedTaskRange;
    readonly first: FirstTasks<TaskKey>;
  },
): Promise<void> {
  const { sets, range, first } = read;
  const from = range.cursor === undefined ? undefined : placeOfCursor(range.cursor).time;
  let left = sets;
  for (let offset = 0; left.length > 0; offset += CHUNK) {
    const answers = await run((client) =>
      Promise.all(
        left.map(({ key }) =>
          range.hasEnded
            ? client.zrange(key, from ?? '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, CHUNK, 'WITHSCORES')
            : client.zrange(key, from ?? '-inf', '+inf', 'BYSCORE', 'LIMIT', offset, CHUNK, 'WITHSCORES'),
        ),
      ),
    );
    left = left.filter(({ taskOf }, set) => {
      const entries = answers[set] ?? [];
      for (let at = 0; at < entries.length; at += 2) {
        const key = taskOf(entries[at] ?? '');
        first.add(Number(entries[at + 1]), key, key);
      }
      return entries.length === 2 * CHUNK && first.wants(Number(entries.at(-1)));
    });
  }
}
