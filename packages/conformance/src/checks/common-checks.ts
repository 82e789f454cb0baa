import { type Check, isTerminal, pollUntilSettled, UNKNOWN_TASK } from '../check.js';
import { expectRefusal, fail, pass, skip } from '../finding.js';
import { memberOf } from '../wire/json.js';
import { frameFault, stepsOf } from './stream-steps.js';

const NOT_WAITING = /^(?:SUBMITTED|WORKING|artifact|append|last append)$/;

/** Checks of every interface, in this order. */
export const COMMON_CHECKS: readonly Check[] = [
  {
    spec: '§3.1.1',
    requirement: 'SendMessage answers with a task or a message',
    run: async (agent, seen) => {
      const answer = await agent.send({});
      if ('message' in answer) return pass('a message');
      seen.task = await pollUntilSettled(agent, answer.task);
      return pass(`task ${seen.task.id} is ${seen.task.status.state}`);
    },
  },
  {
    spec: '§3.1.3',
    requirement: 'GetTask returns a task that exists',
    run: async (agent, { task }) => {
      if (task === undefined) return skip('the agent made no task');
      const { id } = await agent.getTask(task.id);
      return id === task.id ? pass(id) : fail(`asked for ${task.id}, got ${id}`);
    },
  },
  {
    spec: '§3.3.2',
    requirement: 'GetTask of an unknown task is TaskNotFound',
    run: (agent) => expectRefusal(() => agent.getTask(UNKNOWN_TASK), ['TASK_NOT_FOUND']),
  },
  {
    spec: '§3.1.5',
    requirement: 'CancelTask of an unknown task is TaskNotFound',
    run: (agent) => expectRefusal(() => agent.cancelTask(UNKNOWN_TASK), ['TASK_NOT_FOUND']),
  },
  {
    spec: '§3.1.1',
    requirement: 'a message to an unknown task is TaskNotFound',
    run: (agent) => expectRefusal(() => agent.send({ taskId: UNKNOWN_TASK }), ['TASK_NOT_FOUND']),
  },
  {
    spec: '§3.1.4',
    requirement: 'ListTasks keeps to the size of the page',
    sinceV1: true,
    run: async (agent) => {
      const { tasks } = await agent.listTasks({ pageSize: 1 });
      return tasks.length <= 1 ? pass(`${tasks.length} tasks`) : fail(`${tasks.length} tasks on a page of 1`);
    },
  },
  {
    spec: '§3.1.2',
    requirement: 'SendStreamingMessage streams one task or one message, if the card offers streaming',
    run: async (agent) => {
      if (!agent.capabilities.streaming) return skip('the card does not offer streaming');
      const { events, steps } = await stepsOf(agent.stream({}));
      const last = steps.at(-1);
      if (steps.join() === 'message') return pass('one message');
      const fault = frameFault(events) ?? (NOT_WAITING.test(last ?? '') ? `the stream ends after ${last}` : undefined);
      return fault === undefined ? pass(`${events.length} events, the last state ${last}`) : fail(fault);
    },
  },
  {
    spec: '§3.1.6',
    requirement: 'SubscribeToTask of a task that has ended is UnsupportedOperation',
    sinceV1: true,
    run: async (agent, { task }) => {
      if (!agent.capabilities.streaming) return skip('the card does not offer streaming');
      if (task === undefined || !isTerminal(task)) return skip('there is no task that has ended');
      return expectRefusal(() => stepsOf(agent.subscribe(task.id)), ['UNSUPPORTED_OPERATION']);
    },
  },
  {
    spec: '§3.1.7',
    requirement: 'push configurations work if the card offers them, and are refused if not',
    run: async (agent, { task }) => {
      if (task === undefined) return skip('the agent made no task');
      const list = () => agent.listConfigs(task.id);
      if (!agent.capabilities.pushNotifications) return expectRefusal(list, ['PUSH_NOTIFICATION_NOT_SUPPORTED']);
      return pass(`${(await list()).length} configurations`);
    },
  },
  {
    spec: '§3.1.11',
    requirement: 'the extended card is refused if the card offers none',
    run: async (agent) => {
      if (agent.capabilities.extendedAgentCard) return skip('the card offers one');
      const call = async () => memberOf(await agent.call('GetExtendedAgentCard', {}), 'name');
      return expectRefusal(call, ['UNSUPPORTED_OPERATION', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'METHOD_NOT_FOUND']);
    },
  },
];
