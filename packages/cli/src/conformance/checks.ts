import { type AgentCard, isTerminal, type Task } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { type Finding, fail, pass, refused, skipped } from './finding.js';
import type { WireTap } from './wire-tap.js';

/** What a check works with. */
export interface CheckedAgent {
  readonly card: AgentCard;
  readonly client: Client;
  /** What goes over the wire. */
  readonly wire: WireTap;
  /** A client of the same interface that takes the card to offer more than it does. */
  readonly pretending: (capabilities: AgentCard['capabilities']) => Promise<Client>;
  /** The time limit of the check that runs. */
  signal: AbortSignal;
  /** The task that the first check made, where the agent makes tasks. */
  task: Task | undefined;
}

/** One thing that can be seen from outside. */
export interface Check {
  /** The section of the specification. */
  readonly spec: string;
  readonly requirement: string;
  /** True if only 1.x asks for it, not 0.3. */
  readonly sinceV1?: boolean;
  readonly run: (agent: CheckedAgent) => Promise<Finding>;
}

/** The id of no task. */
export const UNKNOWN_TASK = 'parley-conformance-no-such-task';

/** Done on every interface, in this order. */
export const CHECKS: readonly Check[] = [
  {
    spec: '§3.1.1',
    requirement: 'SendMessage answers with a task or a message',
    run: async (agent) => {
      const answer = await agent.client.sendAndWait('Hello', { signal: agent.signal });
      if ('message' in answer) return pass('a message');
      agent.task = answer.task;
      return pass(`task ${answer.task.id} is ${answer.task.status.state}`);
    },
  },
  {
    spec: '§3.1.3',
    requirement: 'GetTask gives a task that was made',
    run: async ({ client, task, signal }) => {
      if (task === undefined) return skipped('the agent made no task');
      const { id } = await client.getTask(task.id, { signal });
      return id === task.id ? pass(id) : fail(`asked for ${task.id}, got ${id}`);
    },
  },
  {
    spec: '§3.3.2',
    requirement: 'GetTask of an unknown task is TaskNotFound',
    run: ({ client, signal }) => refused(() => client.getTask(UNKNOWN_TASK, { signal }), ['TASK_NOT_FOUND']),
  },
  {
    spec: '§3.1.5',
    requirement: 'CancelTask of an unknown task is TaskNotFound',
    run: ({ client, signal }) => refused(() => client.cancelTask(UNKNOWN_TASK, { signal }), ['TASK_NOT_FOUND']),
  },
  {
    spec: '§3.1.1',
    requirement: 'a message to an unknown task is TaskNotFound',
    run: ({ client, signal }) => {
      const message = { parts: [{ text: 'Hello' }], taskId: UNKNOWN_TASK };
      return refused(() => client.sendMessage({ message }, { signal }), ['TASK_NOT_FOUND']);
    },
  },
  {
    spec: '§3.1.4',
    requirement: 'ListTasks keeps to the size of the page',
    sinceV1: true,
    run: async ({ client, signal }) => {
      const { tasks } = await client.listTasks({ pageSize: 1 }, { signal });
      return tasks.length <= 1 ? pass(`${tasks.length} tasks`) : fail(`${tasks.length} tasks on a page of 1`);
    },
  },
  {
    spec: '§3.1.2',
    requirement: 'SendStreamingMessage streams one task or one message, where the card says so',
    run: async ({ card, client, signal }) => {
      if (card.capabilities.streaming !== true) return skipped('the card does not offer streaming');
      const stream = client.sendStreamingMessage('Hello', { signal });
      let events = 0;
      for await (const event of stream) {
        events++;
        if (events === 1 && !('task' in event) && !('message' in event))
          return fail(`it begins with ${Object.keys(event)[0]}`);
      }
      return events > 0 ? pass(`${events} events, the last state ${stream.state ?? '(a message)'}`) : fail('no event');
    },
  },
  {
    spec: '§3.1.6',
    requirement: 'SubscribeToTask of a task that has ended is UnsupportedOperation',
    sinceV1: true,
    run: async ({ card, client, task, signal }) => {
      if (card.capabilities.streaming !== true) return skipped('the card does not offer streaming');
      if (task === undefined || !isTerminal(task.status.state)) return skipped('there is no task that has ended');
      const subscribe = async () => {
        for await (const _ of client.subscribeToTask(task.id, { signal })) break;
      };
      return refused(subscribe, ['UNSUPPORTED_OPERATION']);
    },
  },
  {
    spec: '§3.1.7',
    requirement: 'push configurations work where the card offers them, and are refused where not',
    run: async ({ card, client, task, signal }) => {
      if (task === undefined) return skipped('the agent made no task');
      const list = () => client.listTaskPushNotificationConfigs({ taskId: task.id }, { signal });
      if (card.capabilities.pushNotifications !== true) return refused(list, ['PUSH_NOTIFICATION_NOT_SUPPORTED']);
      const { configs } = await list();
      return pass(`${configs.length} configurations`);
    },
  },
  {
    spec: '§3.1.11',
    requirement: 'the extended card is refused where the card offers none',
    run: async ({ card, client, signal }) => {
      if (card.capabilities.extendedAgentCard === true) return skipped('the card offers one');
      return refused(
        () => client.getExtendedAgentCard({ signal }),
        ['UNSUPPORTED_OPERATION', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'METHOD_NOT_FOUND'],
      );
    },
  },
];
