import { randomUUID } from 'node:crypto';
import type { Task } from 'parley-a2a';
import type { Check, CheckedAgent } from './checks.js';
import { type Finding, fail, faultless, pass, refused, skipped } from './finding.js';
import { kitTask } from './kit-message.js';

/** A context with three tasks. */
interface ThreeTasks {
  readonly agent: CheckedAgent;
  readonly contextId: string;
  /** One with an artifact, one without, and one that waits for input; made in this order. */
  readonly made: readonly Task[];
}

/** What has to hold for lists. */
export const TCK_LIST_CHECKS: readonly Check[] = [
  listCheck('ListTasks filters by context', async ({ agent: { client, signal }, contextId, made }) => {
    const { tasks } = await client.listTasks({ contextId }, { signal });
    return faultless(namesFault(tasks, made), `${tasks.length} tasks`);
  }),
  listCheck('ListTasks of an unknown context is empty', async ({ agent: { client, signal } }) => {
    const { tasks } = await client.listTasks({ contextId: randomUUID() }, { signal });
    return tasks.length === 0 ? pass('no task') : fail(`${tasks.length} tasks`);
  }),
  listCheck('ListTasks filters by state', async ({ agent: { client, signal }, contextId, made }) => {
    const { tasks } = await client.listTasks({ contextId, status: 'TASK_STATE_INPUT_REQUIRED' }, { signal });
    return faultless(namesFault(tasks, made.slice(2)), 'the one that waits');
  }),
  listCheck('ListTasks filters by the time of the status', async ({ agent: { client, signal }, contextId, made }) => {
    const { timestamp } = made[2]?.status ?? {};
    if (timestamp === undefined) return skipped('the tasks have no times');
    const statusTimestampAfter = new Date(Date.parse(timestamp) + 60_000).toISOString();
    const { tasks } = await client.listTasks({ contextId, statusTimestampAfter }, { signal });
    return tasks.length === 0 ? pass('none is of a minute later') : fail(`${tasks.length} tasks of a minute later`);
  }),
  listCheck('ListTasks begins with the newest status', async ({ agent: { client, signal }, contextId }) => {
    const { tasks } = await client.listTasks({ contextId }, { signal });
    const times = tasks.map(({ status }) => Date.parse(status.timestamp ?? ''));
    const isSorted = times.every((time, index) => index === 0 || !(time > (times[index - 1] ?? time)));
    return isSorted ? pass(`${times.length} tasks`) : fail('an older status comes before a newer one');
  }),
  listCheck(
    'ListTasks gives every task on one of its pages',
    async ({ agent: { client, signal }, contextId, made }) => {
      const seen: Task[] = [];
      let pageToken: string | undefined;
      for (let pages = 0; pages < 6; pages++) {
        const wanted = { contextId, pageSize: 2, ...(pageToken !== undefined && { pageToken }) };
        const page = await client.listTasks(wanted, { signal });
        seen.push(...page.tasks);
        pageToken = page.nextPageToken;
        if (pageToken === '') break;
      }
      return faultless(namesFault(seen, made), `${seen.length} tasks on pages of 2`);
    },
  ),
  listCheck('ListTasks counts what matches', async ({ agent: { client, signal }, contextId }) => {
    const { totalSize } = await client.listTasks({ contextId, pageSize: 1 }, { signal });
    return totalSize === 3 ? pass('totalSize is 3') : fail(`totalSize is ${totalSize} instead of 3`);
  }),
  listCheck('ListTasks leaves artifacts out', async ({ agent: { client, signal }, contextId }) => {
    const { tasks } = await client.listTasks({ contextId }, { signal });
    const withSome = tasks.filter(({ artifacts }) => artifacts !== undefined);
    return withSome.length === 0 ? pass('no artifacts') : fail(`${withSome.length} tasks have artifacts`);
  }),
  listCheck('ListTasks shows artifacts on request', async ({ agent: { client, signal }, contextId, made }) => {
    const { tasks } = await client.listTasks({ contextId, includeArtifacts: true }, { signal });
    const { artifacts = [] } = tasks.find(({ id }) => id === made[0]?.id) ?? {};
    return artifacts.length === 1 ? pass('one artifact') : fail(`${artifacts.length} artifacts instead of one`);
  }),
  {
    spec: '§3.1.4',
    requirement: 'ListTasks refuses a page of more than 100',
    run: ({ client, signal }) => refused(() => client.listTasks({ pageSize: 101 }, { signal }), ['INVALID_PARAMS']),
  },
  {
    spec: '§3.1.4',
    requirement: 'ListTasks refuses a page token that it never gave',
    run: ({ client, signal }) =>
      refused(() => client.listTasks({ pageToken: 'parley!' }, { signal }), ['INVALID_PARAMS']),
  },
];

function listCheck(requirement: string, run: (three: ThreeTasks) => Promise<Finding>): Check {
  return {
    spec: '§3.1.4',
    requirement,
    run: async (agent) => {
      const first = await kitTask(agent, 'tck-artifact-text');
      const { contextId } = first;
      if (contextId === undefined) return skipped('the agent names no context');
      const second = await kitTask(agent, 'tck-complete-task', { contextId });
      const third = await kitTask(agent, 'tck-input-required', { contextId });
      return run({ agent, contextId, made: [first, second, third] });
    },
  };
}

/** What is wrong with a list that has to name these tasks, each once, in whatever order. */
function namesFault(listed: readonly Task[], wanted: readonly Task[]): string | undefined {
  const [found, expected] = [listed, wanted].map((tasks) => tasks.map(({ id }) => id).sort());
  return found?.join() === expected?.join()
    ? undefined
    : `it names ${found?.join(', ')}; expected ${expected?.join(', ')}`;
}
