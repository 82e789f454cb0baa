import { type Check, UNKNOWN_TASK } from '../check.js';
import { stepsOf, taskIdOf } from '../checks/stream-steps.js';
import { expectRefusal, fail, faultless, pass, skip } from '../finding.js';
import { kitMessage, kitTask, workingTask } from './kit-message.js';
import { ifStreaming, stateFault } from './kit-scenarios.js';

/** Requirements around the scenarios, for one task. */
export const KIT_TASK_CHECKS: readonly Check[] = [
  {
    spec: '§3.1.3',
    requirement: 'GetTask shows the artifacts of a task',
    run: async (agent) => {
      const { id } = await kitTask(agent, 'tck-artifact-text');
      const { artifacts = [] } = await agent.getTask(id);
      return artifacts.length === 1 ? pass('one artifact') : fail(`${artifacts.length} artifacts instead of one`);
    },
  },
  {
    spec: '§3.1.3',
    requirement: 'GetTask joins the chunks of an artifact',
    run: (agent) =>
      ifStreaming(agent, async () => {
        const { events } = await stepsOf(agent.stream(kitMessage('tck-stream-artifact-chunked')));
        const taskId = events.map(taskIdOf).find((id) => id !== undefined) ?? '';
        const { artifacts = [] } = await agent.getTask(taskId);
        const texts = artifacts.map(({ parts }) => parts.map((part) => String(part.text ?? '')).join(''));
        return texts.join('|') === 'chunk-1 chunk-2' ? pass('one artifact') : fail(`artifacts: ${texts.join('|')}`);
      }),
  },
  {
    spec: '§3.2.2',
    requirement: 'returnImmediately is answered before the work is done',
    run: async (agent) => {
      const { id, status } = await workingTask(agent);
      await agent.cancelTask(id).catch(() => undefined);
      const isEarly = ['SUBMITTED', 'WORKING'].includes(status.state);
      return isEarly ? pass(status.state) : fail(`the answer is a task that is ${status.state}`);
    },
  },
  {
    spec: '§3.1.5',
    requirement: 'CancelTask makes a working task CANCELED',
    run: async (agent) => {
      const { id } = await workingTask(agent);
      return faultless(stateFault(await agent.cancelTask(id), 'CANCELED'), `task ${id} is CANCELED`);
    },
  },
  {
    spec: '§3.1.5',
    requirement: 'CancelTask of a completed task is TaskNotCancelable',
    run: async (agent) => {
      const { id } = await kitTask(agent, 'tck-complete-task');
      return expectRefusal(() => agent.cancelTask(id), ['TASK_NOT_CANCELABLE']);
    },
  },
  {
    spec: '§3.1.1',
    requirement: 'a message to a completed task is UnsupportedOperation',
    run: async (agent) => {
      const { id: taskId } = await kitTask(agent, 'tck-complete-task');
      return expectRefusal(() => kitTask(agent, 'tck-complete-task', { taskId }), ['UNSUPPORTED_OPERATION']);
    },
  },
  {
    spec: '§3.4.3',
    requirement: 'a message to a task in the context of another is refused',
    run: async (agent) => {
      const { id: taskId } = await kitTask(agent, 'tck-input-required');
      const { contextId } = await kitTask(agent, 'tck-input-required');
      if (contextId === undefined) return skip('the agent names no context');
      const call = () => kitTask(agent, 'tck-complete-task', { taskId, contextId });
      return expectRefusal(call, ['INVALID_PARAMS', 'INVALID_REQUEST']);
    },
  },
  {
    spec: '§3.4.3',
    requirement: 'a message in a context makes another task there',
    run: async (agent) => {
      const first = await kitTask(agent, 'tck-complete-task');
      if (first.contextId === undefined) return skip('the agent names no context');
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
      const { history } = await agent.getTask(id, { historyLength: 0 });
      return history.length === 0 ? pass('no message') : fail(`${history.length} messages`);
    },
  },
  {
    spec: '§3.2.4',
    requirement: 'historyLength limits the history to the latest messages',
    run: async (agent) => {
      const { id } = await kitTask(agent, 'tck-input-required');
      await kitTask(agent, 'tck-complete-task', { taskId: id });
      const { history: all } = await agent.getTask(id);
      if (all.length < 2) return skip(`the agent keeps ${all.length} messages`);
      const { history } = await agent.getTask(id, { historyLength: 1 });
      if (history.length > 1) return fail(`${history.length} messages instead of 1`);
      const isLast = history.length === 0 || history[0]?.messageId === all.at(-1)?.messageId;
      return isLast ? pass(`${history.length} of ${all.length}`) : fail('it is not the latest one');
    },
  },
  {
    spec: '§3.1.2',
    requirement: 'a stream is closed when its task has ended',
    run: (agent) =>
      ifStreaming(agent, async () => {
        const { isClosed } = await stepsOf(agent.stream(kitMessage('tck-complete-task')));
        return isClosed ? pass('closed by the agent') : fail('it was still open a second later');
      }),
  },
  {
    spec: '§3.1.6',
    requirement: 'SubscribeToTask of an unknown task is TaskNotFound',
    run: (agent) =>
      ifStreaming(agent, () => expectRefusal(() => stepsOf(agent.subscribe(UNKNOWN_TASK)), ['TASK_NOT_FOUND'])),
  },
  {
    spec: '§3.1.6',
    requirement: 'SubscribeToTask of a completed task is UnsupportedOperation',
    run: (agent) =>
      ifStreaming(agent, async () => {
        const { id } = await kitTask(agent, 'tck-complete-task');
        return expectRefusal(() => stepsOf(agent.subscribe(id)), ['UNSUPPORTED_OPERATION']);
      }),
  },
  {
    spec: '§3.5.2',
    requirement: 'two subscribers of a task see the same, also if a third one leaves',
    run: (agent) =>
      ifStreaming(agent, async () => {
        const { id } = await workingTask(agent);
        const leaving = (await agent.subscribe(id))[Symbol.asyncIterator]();
        await leaving.next();
        const staying = [1, 2].map(() => stepsOf(agent.subscribe(id)));
        await leaving.return(undefined);
        const [one, other] = (await Promise.all(staying)).map(({ steps }) => steps.at(-1));
        return one === other && one === 'COMPLETED'
          ? pass('both see the end')
          : fail(`they end in ${one} and ${other}`);
      }),
  },
];
