import { randomUUID } from 'node:crypto';
import type { Check } from '../check.js';
import { expectRefusal, type Finding, fail, faultless, pass, skip } from '../finding.js';
import type { Task, TestedAgent } from '../tested-agent.js';
import { kitTask } from './kit-message.js';

/** A context with three tasks: with an artifact, without one, waiting for input. They were made in this order. */
interface ThreeTasks {
  readonly agent: TestedAgent;
  readonly contextId: string;
  readonly made: readonly Task[];
}

/** More pages than three tasks can fill. */
const MOST_PAGES = 6;

/** Requirements for lists of tasks. */
export const KIT_LIST_CHECKS: readonly Check[] = [
  listCheck('ListTasks filters by context', async ({ agent, contextId, made }) => {
    const { tasks } = await agent.listTasks({ contextId });
    return faultless(namesFault(tasks, made), `${tasks.length} tasks`);
  }),
  listCheck('ListTasks of an unknown context is empty', async ({ agent }) => {
    const { tasks } = await agent.listTasks({ contextId: randomUUID() });
    return tasks.length === 0 ? pass('no task') : fail(`${tasks.length} tasks`);
  }),
  listCheck('ListTasks filters by state', async ({ agent, contextId, made }) => {
    const { tasks } = await agent.listTasks({ contextId, status: 'TASK_STATE_INPUT_REQUIRED' });
    return faultless(namesFault(tasks, made.slice(2)), 'the one that waits');
  }),
  listCheck('ListTasks filters by the time of the status', async ({ agent, contextId, made }) => {
    const { timestamp } = made[2]?.status ?? {};
    if (timestamp === undefined) return skip('the tasks have no times');
    const statusTimestampAfter = new Date(Date.parse(timestamp) + 60_000).toISOString();
    const { tasks } = await agent.listTasks({ contextId, statusTimestampAfter });
    return tasks.length === 0 ? pass('none is a minute later') : fail(`${tasks.length} tasks are a minute later`);
  }),
  listCheck('ListTasks begins with the newest status', async ({ agent, contextId }) => {
    const { tasks } = await agent.listTasks({ contextId });
    const times = tasks.map(({ status }) => Date.parse(status.timestamp ?? ''));
    const isSorted = times.every((time, index) => index === 0 || !(time > (times[index - 1] ?? time)));
    return isSorted ? pass(`${times.length} tasks`) : fail('an older status comes before a newer one');
  }),
  listCheck('ListTasks gives every task on one of its pages', async ({ agent, contextId, made }) => {
    const seen: Task[] = [];
    let pageToken = '';
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page = await agent.listTasks({ contextId, pageSize: 2, ...(pageToken !== '' && { pageToken }) });
      seen.push(...page.tasks);
      pageToken = page.nextPageToken;
      if (pageToken === '') break;
    }
    return faultless(namesFault(seen, made), `${seen.length} tasks on pages of 2`);
  }),
  listCheck('ListTasks counts all matching tasks', async ({ agent, contextId }) => {
    const { totalSize } = await agent.listTasks({ contextId, pageSize: 1 });
    return totalSize === 3 ? pass('totalSize is 3') : fail(`totalSize is ${totalSize} instead of 3`);
  }),
  listCheck('ListTasks leaves artifacts out', async ({ agent, contextId }) => {
    const { tasks } = await agent.listTasks({ contextId });
    const withSome = tasks.filter(({ artifacts }) => artifacts !== undefined);
    return withSome.length === 0 ? pass('no artifacts') : fail(`${withSome.length} tasks have artifacts`);
  }),
  listCheck('ListTasks shows artifacts on request', async ({ agent, contextId, made }) => {
    const { tasks } = await agent.listTasks({ contextId, includeArtifacts: true });
    const { artifacts = [] } = tasks.find(({ id }) => id === made[0]?.id) ?? {};
    return artifacts.length === 1 ? pass('one artifact') : fail(`${artifacts.length} artifacts instead of one`);
  }),
  {
    spec: '§3.1.4',
    requirement: 'ListTasks refuses a page of more than 100',
    run: (agent) => expectRefusal(() => agent.listTasks({ pageSize: 101 }), ['INVALID_PARAMS']),
  },
  {
    spec: '§3.1.4',
    requirement: 'ListTasks refuses a page token that it never gave',
    run: (agent) => expectRefusal(() => agent.listTasks({ pageToken: 'parley!' }), ['INVALID_PARAMS']),
  },
];

function listCheck(requirement: string, run: (three: ThreeTasks) => Promise<Finding>): Check {
  return {
    spec: '§3.1.4',
    requirement,
    run: async (agent) => {
      const first = await kitTask(agent, 'tck-artifact-text');
      const { contextId } = first;
      if (contextId === undefined) return skip('the agent names no context');
      const second = await kitTask(agent, 'tck-complete-task', { contextId });
      const third = await kitTask(agent, 'tck-input-required', { contextId });
      return run({ agent, contextId, made: [first, second, third] });
    },
  };
}

/** Returns the fault of a list that has to name these tasks, each once, in any order. */
function namesFault(listed: readonly Task[], wanted: readonly Task[]): string | undefined {
  const [found, expected] = [listed, wanted].map((tasks) => tasks.map(({ id }) => id).sort());
  return found?.join() === expected?.join()
    ? undefined
    : `it names ${found?.join(', ')}; expected ${expected?.join(', ')}`;
}
