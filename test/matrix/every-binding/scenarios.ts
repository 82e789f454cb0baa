import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Client } from '../../../packages/parley/src/client/client.js';
import { bearerToken } from '../../../packages/parley/src/exports/credentials.js';
import type { Task } from '../../../packages/parley/src/model/task.js';
import type { OperationName } from '../../../packages/parley/src/operations/operations.js';
import { type Json, mismatches, type Scenario, SCENARIOS as TABLE } from '../../interop/scenarios.js';
import type { MatrixVersion } from './bindings.js';
import { callOperation, eventsOf, type Options, refusal } from './outcome.js';
import { CANCEL_METADATA, HISTORY_LENGTH, LAST_STREAM, RESUMED, SEVERAL, WEBHOOKS } from './special-scenarios.js';
import { type AgentPath, type Cell, STREAMS } from './world.js';

/** One entry of the matrix: its calls in a cell, and what they led to. */
export interface MatrixScenario {
  readonly name: string;
  /** True if it needs an operation or a value that 0.3 does not have: 0.3 then has a reference of its own. */
  readonly differs?: boolean;
  /** Absent: all versions. */
  readonly versions?: readonly MatrixVersion[];
  /** The only operation that it is about. Versions without that operation leave it out. */
  readonly operation?: OperationName;
  readonly play: (cell: Cell) => Promise<unknown>;
}

const isLong = process.env.TEST_LONG !== undefined && process.env.TEST_LONG !== '';

/** The ways to send a message. */
const MODES = isLong ? (['stream', 'blocking', 'immediate'] as const) : (['stream', 'blocking'] as const);
type Mode = (typeof MODES)[number];

/** Plays a row of the table of the example agents. */
async function playScenario(cell: Cell, scenario: Scenario, agent: AgentPath, mode: Mode): Promise<unknown> {
  const client = await cell.client(agent);
  const contextId = randomUUID();
  const turns: unknown[] = [];
  let task: Task | undefined;
  for (const turn of scenario.turns) {
    const messageId = `${turn.send.messageId ?? 'message'}-${randomUUID()}`;
    const place = task === undefined ? { contextId } : { taskId: task.id };
    const sent = { message: { messageId, parts: turn.send.parts as never, ...place } };
    const { answer, id } = await MODE_CALLS[mode](client, sent);
    if (id !== undefined) task = await client.getTask(id);
    expect(mismatches(turn.task, turn.task === undefined ? undefined : plain(task)), scenario.name).toEqual([]);
    turns.push({ answer, task });
  }
  const listed =
    task !== undefined && cell.version === '1.0' ? await client.listTasks({ contextId, includeArtifacts: true }) : {};
  return { turns, ...(cell.version === '1.0' && { listed }) };
}

const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;

type Sent = Parameters<Client['sendMessage']>[0];
type ModeCall = (client: Client, sent: Exclude<Sent, string>) => Promise<{ answer?: unknown; id?: string | undefined }>;

const isAtWork = ({ state }: Task['status']) => /SUBMITTED|WORKING/.test(state);

const MODE_CALLS: Readonly<Record<Mode, ModeCall>> = {
  async stream(client, sent) {
    const stream = client.sendStreamingMessage(sent);
    return { answer: await eventsOf(stream), id: stream.taskId };
  },
  async blocking(client, sent) {
    const answer = await client.sendMessage(sent);
    return { answer, id: answer.task !== undefined ? answer.task.id : undefined };
  },
  async immediate(client, sent) {
    const answer = await client.sendMessage({ ...sent, configuration: { returnImmediately: true } });
    if (answer.task === undefined) return { answer };
    const { id, status: before } = answer.task;
    // Plain arguments cannot subscribe, so that they look again and again.
    await client.waitFor(id).catch(() => undefined);
    for (let { status } = await client.getTask(id); ; { status } = await client.getTask(id)) {
      // The state of a follow-up may be that of the turn before.
      const isNew = isAtWork(before) || status.timestamp !== before.timestamp;
      if (isNew && !isAtWork(status)) break;
      // A call in the process takes no turn of the event loop. Without one the agent would never go on.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { id };
  },
};

const EXAMPLES: readonly MatrixScenario[] = TABLE.flatMap((scenario) => {
  const agents = (isLong ? scenario.agents : scenario.agents.slice(0, 1)) as readonly AgentPath[];
  const modes = scenario.once === true ? MODES.slice(0, 1) : MODES;
  return agents.flatMap((agent) =>
    modes.map((mode) => ({
      name: `${scenario.name} at ${agent}, ${mode}`,
      differs: true,
      play: (cell: Cell) => playScenario(cell, scenario, agent, mode),
    })),
  );
});

async function taskOf(client: Client, text: string): Promise<Task> {
  const answer = await client.sendMessage({ message: text, configuration: { returnImmediately: text === 'wait' } });
  if (answer.task !== undefined) return answer.task;
  throw new Error(`The agent answered ${text} with a message`);
}

/** A stream that is open on a task, after its first event. */
async function subscribeTo(client: Client, id: string, options?: Options & { readonly lastEventId?: string }) {
  const stream = client.subscribeToTask(id, options);
  const first = await stream.next();
  return { first: first.value, rest: () => eventsOf(stream), stream };
}

/** The rules that hold for all examples: cancellation, subscriptions, histories, lists, repeats, limits. */
const RULES: readonly MatrixScenario[] = [
  {
    name: CANCEL_METADATA,
    async play(cell) {
      const client = await cell.client('/spec');
      const stream = client.sendStreamingMessage('task-cancel please');
      const events: unknown[] = [];
      let canceled: unknown;
      for await (const event of stream) {
        events.push(event);
        if (event.statusUpdate !== undefined && event.statusUpdate.status.state === 'TASK_STATE_WORKING') {
          const metadata = { reason: 'test-cancel-reason', requestedBy: { name: 'ann' } };
          canceled = await client.cancelTask(stream.taskId ?? '', { metadata });
        }
      }
      return { events, canceled, later: await client.getTask(stream.taskId ?? '') };
    },
    differs: true,
  },
  {
    name: 'a cancel of a task that waits for input',
    async play(cell) {
      const client = await cell.client('/owned', 'ann');
      const { id } = await taskOf(client, 'ask');
      return { canceled: await client.cancelTask(id), again: await client.cancelTask(id) };
    },
  },
  {
    name: SEVERAL,
    differs: true,
    async play(cell) {
      const client = await cell.client('/spec');
      const { id } = await taskOf(client, 'multi-turn begin');
      const [one, two, three] = await Promise.all([1, 2, 3].map(() => subscribeTo(client, id)));
      await two?.stream.return();
      await client.sendMessage({ message: { taskId: id, parts: [{ text: 'done' }] } });
      return { first: [one?.first, two?.first, three?.first], rest: [await one?.rest(), await three?.rest()] };
    },
  },
  {
    name: RESUMED,
    differs: true,
    async play(cell) {
      const client = await cell.client('/spec');
      const { id } = await taskOf(client, 'multi-turn begin');
      const resumed = await subscribeTo(client, id, { lastEventId: '2' });
      const ids = [resumed.stream.lastEventId];
      await client.sendMessage({ message: { taskId: id, parts: [{ text: 'done' }] } });
      const rest = await resumed.rest();
      return { first: resumed.first, rest, ids: [...ids, resumed.stream.lastEventId] };
    },
  },
  {
    name: HISTORY_LENGTH,
    async play(cell) {
      const client = await cell.client('/owned', 'ann');
      const { id } = await taskOf(client, 'ask');
      await client.sendMessage({ message: { taskId: id, parts: [{ text: 'ask' }] } });
      const tasks = await Promise.all([0, 1, 2].map((historyLength) => client.getTask({ id, historyLength })));
      return tasks.map(({ history = [] }) => history.map(({ parts }) => parts));
    },
  },
  {
    name: 'an agent of 0.3 alone',
    versions: ['0.3'],
    async play(cell) {
      const client = await cell.client('/old');
      const answer = await client.sendMessage('ask');
      const id = answer.task !== undefined ? answer.task.id : '';
      const message = { taskId: id, parts: [{ text: 'done' }] };
      const streamed = await eventsOf(client.sendStreamingMessage({ message }));
      return { answer, streamed, task: await client.getTask(id), ended: await refusal(client.cancelTask(id)) };
    },
    differs: true,
  },
  {
    name: 'a message that comes twice',
    async play(cell) {
      const client = await cell.client('/owned', 'ann');
      const message = { messageId: randomUUID(), parts: [{ text: 'once' }] };
      const answers = [await client.sendMessage({ message }), await client.sendMessage({ message })];
      const changed = refusal(client.sendMessage({ message: { ...message, parts: [{ text: 'other' }] } }));
      const streamed = await eventsOf(client.sendStreamingMessage({ message }));
      return { answers, changed: await changed, streamed };
    },
    differs: true,
  },
  {
    name: 'lists by context, state and page',
    operation: 'listTasks',
    async play(cell) {
      const client = await cell.client('/owned', `lister`);
      const contextId = randomUUID();
      for (const text of ['one', 'ask', 'two']) await client.sendMessage({ message: { contextId, parts: [{ text }] } });
      const { nextPageToken, ...page } = await client.listTasks({ contextId, pageSize: 2 });
      return {
        page,
        next: await client.listTasks({ contextId, pageSize: 2, pageToken: nextPageToken }),
        asking: await client.listTasks({ contextId, status: 'TASK_STATE_INPUT_REQUIRED' }),
        wrong: await refusal(client.listTasks({ contextId, pageToken: 'AAAA' })),
      };
    },
  },
  {
    name: WEBHOOKS,
    differs: true,
    async play(cell) {
      const client = await cell.client('/owned', 'ann');
      const { id: taskId } = await taskOf(client, 'ask');
      const url = 'https://hooks.example/a';
      const authentication = { scheme: 'Bearer', credentials: 'hook' };
      const created = [
        await client.createTaskPushNotificationConfig({ taskId, id: 'c1', url, token: 't' }),
        await client.createTaskPushNotificationConfig({ taskId, id: 'c2', url, authentication }),
      ];
      return {
        created,
        read: await client.getTaskPushNotificationConfig({ taskId, id: 'c2' }),
        listed: await client.listTaskPushNotificationConfigs({ taskId }),
        deleted: [
          await client.deleteTaskPushNotificationConfig({ taskId, id: 'c1' }),
          await client.deleteTaskPushNotificationConfig({ taskId, id: 'c1' }),
        ].length,
        after: await client.listTaskPushNotificationConfigs({ taskId }),
        missing: await refusal(client.getTaskPushNotificationConfig({ taskId, id: 'c1' })),
        inside: await refusal(
          client.createTaskPushNotificationConfig({ taskId, id: 'c3', url: 'http://127.0.0.1:1/' }),
        ),
      };
    },
  },
  {
    // A card of 0.3 has members that only its JSON-RPC carries.
    name: 'the extended card, with and without a credential',
    versions: ['1.0'],
    async play(cell) {
      const spec = await cell.client('/spec');
      const named = await cell.client('/spec', undefined, { credentials: bearerToken('acceptance-token') });
      return {
        without: await refusal(callOperation(spec, 'getExtendedAgentCard', {})),
        withOne: await callOperation(named, 'getExtendedAgentCard', {}),
      };
    },
  },
  {
    name: LAST_STREAM,
    async play(cell) {
      const client = await cell.client('/owned', 'streamer');
      const { id } = await taskOf(client, 'ask');
      const open = [];
      for (let count = 0; count < STREAMS; count += 1) open.push(await subscribeTo(client, id));
      const other = await cell.client('/owned', 'streamer', { resume: { attempts: 0 } });
      const refused = await refusal(eventsOf(other.subscribeToTask(id)));
      for (const { stream } of open) await stream.return();
      return { refused };
    },
  },
  {
    name: 'a caller who gives up: its task goes on',
    async play(cell) {
      const client = await cell.client('/owned', 'ann');
      const leaving = new AbortController();
      const stream = client.sendStreamingMessage('wait', { signal: leaving.signal });
      await stream.next();
      const reason = new Error('enough');
      leaving.abort(reason);
      const ended = await eventsOf(stream).catch((error: unknown) => error === reason);
      const { status } = await client.getTask(stream.taskId ?? '');
      return {
        ended,
        isRunning: /SUBMITTED|WORKING/.test(status.state),
        canceled: await client.cancelTask(stream.taskId ?? ''),
      };
    },
    differs: true,
  },
];

/** Every scenario of the example agents and of the rules. */
export const SCENARIOS: readonly MatrixScenario[] = [...EXAMPLES, ...RULES];
