import { type Check, UNKNOWN_TASK } from './checks.js';
import { fail, faultless, pass, refused, skipped } from './finding.js';
import { kitMessage, kitTask, stateOf, workingTask } from './kit-message.js';
import { stepsOf } from './stream-steps.js';
import { stateFault, streaming } from './tck-scenarios.js';

/** What has to hold around the scenarios for one task. */
export const TCK_TASK_CHECKS: readonly Check[] = [
  {
    spec: '§3.1.3',
    requirement: 'GetTask shows the artifacts of a task',
    run: async (agent) => {
      const { id } = await kitTask(agent, 'tck-artifact-text');
      const { artifacts = [] } = await agent.client.getTask(id, { signal: agent.signal });
      return artifacts.length === 1 ? pass('one artifact') : fail(`${artifacts.length} artifacts instead of one`);
    },
  },
  {
    spec: '§3.1.3',
    requirement: 'GetTask joins the chunks of an artifact',
    run: (agent) =>
      streaming(agent, async ({ client, signal }) => {
        const stream = client.sendStreamingMessage(kitMessage('tck-stream-artifact-chunked'), { signal });
        await stepsOf(stream);
        const { artifacts = [] } = await client.getTask(stream.taskId ?? '', { signal });
        const texts = artifacts.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join(''));
        return texts.join('|') === 'chunk-1 chunk-2' ? pass('one artifact') : fail(`artifacts: ${texts.join('|')}`);
      }),
  },
  {
    spec: '§3.2.2',
    requirement: 'returnImmediately is answered before the work is done',
    run: async (agent) => {
      const task = await workingTask(agent);
      await agent.client.cancelTask(task.id, { signal: agent.signal }).catch(() => undefined);
      const isEarly = ['SUBMITTED', 'WORKING'].includes(stateOf(task));
      return isEarly ? pass(stateOf(task)) : fail(`the answer is a task that is ${stateOf(task)}`);
    },
  },
  {
    spec: '§3.1.5',
    requirement: 'CancelTask makes a working task CANCELED',
    run: async (agent) => {
      const { id } = await workingTask(agent);
      const task = await agent.client.cancelTask(id, { signal: agent.signal });
      return faultless(stateFault(task, 'CANCELED'), `task ${id} is CANCELED`);
    },
  },
  {
    spec: '§3.1.5',
    requirement: 'CancelTask of a completed task is TaskNotCancelable',
    run: async (agent) => {
      const { id } = await kitTask(agent, 'tck-complete-task');
      return refused(() => agent.client.cancelTask(id, { signal: agent.signal }), ['TASK_NOT_CANCELABLE']);
    },
  },
  {
    spec: '§3.1.1',
    requirement: 'a message to a completed task is UnsupportedOperation',
    run: async (agent) => {
      const { id: taskId } = await kitTask(agent, 'tck-complete-task');
      return refused(() => kitTask(agent, 'tck-complete-task', { taskId }), ['UNSUPPORTED_OPERATION']);
    },
  },
  {
    spec: '§3.4.3',
    requirement: 'a message to a task in the context of another is refused',
    run: async (agent) => {
      const { id: taskId } = await kitTask(agent, 'tck-input-required');
      const { contextId } = await kitTask(agent, 'tck-input-required');
      if (contextId === undefined) return skipped('the agent names no context');
      const call = () => kitTask(agent, 'tck-complete-task', { taskId, contextId });
      return refused(call, ['INVALID_PARAMS', 'INVALID_REQUEST']);
    },
  },
  {
    spec: '§3.4.3',
    requirement: 'a message in a context makes another task there',
    run: async (agent) => {
      const first = await kitTask(agent, 'tck-complete-task');
      if (first.contextId === undefined) return skipped('the agent names no context');
      const { id, contextId } = await kitTask(agent, 'tck-complete-task', { contextId: first.contextId });
      if (id === first.id) return fail(`task ${id} is used again`);
      return contextId === first.contextId ? pass(`task ${id}`) : fail(`the task is in context ${contextId}`);
    },
  },
  {
    spec: '§3.2.4',
    requirement: 'historyLength 0 leaves the history out',
    run: async (agent) => {
      const { id } = await kitTask(agent, 'tck-complete-task');
      const { history = [] } = await agent.client.getTask({ id, historyLength: 0 }, { signal: agent.signal });
      return history.length === 0 ? pass('no message') : fail(`${history.length} messages`);
    },
  },
  {
    spec: '§3.2.4',
    requirement: 'historyLength limits the history to the latest messages',
    run: async (agent) => {
      const { id: taskId } = await kitTask(agent, 'tck-input-required');
      await kitTask(agent, 'tck-complete-task', { taskId });
      const { history: all = [] } = await agent.client.getTask(taskId, { signal: agent.signal });
      if (all.length < 2) return skipped(`the agent keeps ${all.length} messages`);
      const { history = [] } = await agent.client.getTask({ id: taskId, historyLength: 1 }, { signal: agent.signal });
      if (history.length > 1) return fail(`${history.length} messages instead of 1`);
      const isLast = history.length === 0 || history[0]?.messageId === all.at(-1)?.messageId;
      return isLast ? pass(`${history.length} of ${all.length}`) : fail('it is not the latest one');
    },
  },
  {
    spec: '§3.1.2',
    requirement: 'a stream is closed when its task has ended',
    run: (agent) =>
      streaming(agent, async ({ client, signal, wire }) => {
        await stepsOf(client.sendStreamingMessage(kitMessage('tck-complete-task'), { signal }));
        return wire.closed === true ? pass('closed by the agent') : fail('it was still open a second later');
      }),
  },
  {
    spec: '§3.1.6',
    requirement: 'SubscribeToTask of an unknown task is TaskNotFound',
    run: (agent) =>
      streaming(agent, ({ client, signal }) =>
        refused(() => stepsOf(client.subscribeToTask(UNKNOWN_TASK, { signal })), ['TASK_NOT_FOUND']),
      ),
  },
  {
    spec: '§3.1.6',
    requirement: 'SubscribeToTask of a completed task is UnsupportedOperation',
    run: (agent) =>
      streaming(agent, async ({ client, signal }) => {
        const { id } = await kitTask(agent, 'tck-complete-task');
        return refused(() => stepsOf(client.subscribeToTask(id, { signal })), ['UNSUPPORTED_OPERATION']);
      }),
  },
  {
    spec: '§3.5.2',
    requirement: 'two subscribers of a task see the same, also when a third one leaves',
    run: (agent) =>
      streaming(agent, async ({ client, signal }) => {
        const { id } = await workingTask(agent);
        const leaving = client.subscribeToTask(id, { signal });
        await leaving.next();
        const staying = [1, 2].map(() => stepsOf(client.subscribeToTask(id, { signal })));
        await leaving.return();
        const [one, other] = (await Promise.all(staying)).map(({ steps }) => steps.at(-1));
        return one === other && one === 'COMPLETED'
          ? pass('both see the end')
          : fail(`they end in ${one} and ${other}`);
      }),
  },
];
