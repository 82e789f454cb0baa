import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Client } from '../../../packages/parley/src/client/client.js';
import { ERROR_CODES } from '../../../packages/parley/src/errors/a2a-error.js';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  takesMessage,
} from '../../../packages/parley/src/operations/operations.js';
import { assertNoInternals } from '../../support/no-internals.js';
import type { MatrixVersion } from './bindings.js';
import { FAULTS } from './faults.js';
import { NARROW } from './input-limits.js';
import { callOperation, type Options, refusal } from './outcome.js';
import type { MatrixScenario } from './scenarios.js';
import { DECLARED, NO_EXTENDED_CARD, OTHER_VERSION, RATE, TOO_LONG } from './special-scenarios.js';
import { type AgentPath, type Cell, DEMANDED } from './world.js';

const URL_OF_HOOK = 'https://hooks.example/a';

/** A valid request of each operation. `id` is a task. */
const REQUESTS: Readonly<Record<OperationName, (id: string) => object>> = {
  sendMessage: (taskId) => ({ message: newMessage('hi', { taskId }) }),
  sendStreamingMessage: (taskId) => ({ message: newMessage('hi', { taskId }) }),
  getTask: (id) => ({ id }),
  listTasks: () => ({}),
  cancelTask: (id) => ({ id }),
  subscribeToTask: (id) => ({ id }),
  createTaskPushNotificationConfig: (taskId) => ({ taskId, id: 'c1', url: URL_OF_HOOK }),
  getTaskPushNotificationConfig: (taskId) => ({ taskId, id: 'c1' }),
  listTaskPushNotificationConfigs: (taskId) => ({ taskId }),
  deleteTaskPushNotificationConfig: (taskId) => ({ taskId, id: 'c1' }),
  getExtendedAgentCard: () => ({}),
};

/** Longer than an id may be. An empty id has no route over HTTP+JSON. */
const LONG = 'x'.repeat(1100);

/** A request of each operation with faults. Absent: its request has no members. */
const INVALID: Readonly<Record<OperationName, object | undefined>> = {
  sendMessage: { message: { messageId: '', role: 'ROLE_USER', parts: [] } },
  sendStreamingMessage: { message: { messageId: '', role: 'ROLE_USER', parts: [] } },
  getTask: { id: 'x', historyLength: -1 },
  listTasks: { pageSize: -1, historyLength: -1 },
  cancelTask: { id: LONG },
  subscribeToTask: { id: LONG },
  createTaskPushNotificationConfig: { taskId: 'x', id: 'c1', url: '' },
  getTaskPushNotificationConfig: { taskId: LONG, id: 'c1' },
  listTaskPushNotificationConfigs: { taskId: LONG },
  deleteTaskPushNotificationConfig: { taskId: LONG, id: 'c1' },
  getExtendedAgentCard: undefined,
};

function newMessage(text: string, over: object = {}): object {
  return { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...over };
}

/** One reason to refuse, for each operation that can be refused so. */
interface RefusalRow {
  readonly name: string;
  readonly code: RegExp;
  readonly agent: AgentPath;
  readonly user?: string;
  readonly operations: readonly OperationName[];
  /** The request. Default: a valid one about a task that does not exist. */
  readonly request?: (operation: OperationName, caller: Caller) => object | Promise<object>;
  readonly options?: Options;
  /** Runs before the call, with the same client. */
  readonly before?: (client: Client, operation: OperationName) => Promise<unknown>;
  /** Calls at most until one is refused; default 1. */
  readonly tries?: number;
  readonly differs?: boolean;
  /** True if each binding has a text and metadata of its own. */
  readonly isToldApart?: boolean;
  readonly versions?: readonly MatrixVersion[];
}

const ALL = OPERATION_NAMES;
const where = (isIt: (operation: OperationName) => boolean) => ALL.filter(isIt);
const SENDING = where(takesMessage);
const PUSHING = where((operation) => OPERATIONS[operation].capability === 'pushNotifications');
const ABOUT_TASK = where((operation) => operation !== 'listTasks' && operation !== 'getExtendedAgentCard');
const STORING = where((operation) => operation !== 'getExtendedAgentCard');
const MISSING = '00000000-0000-7000-8000-000000000000';

/** The cell of a call, and its user. */
interface Caller {
  readonly cell: Cell;
  readonly user: string;
}

async function taskOf({ cell, user }: Caller, text: string): Promise<string> {
  const client = await cell.client('/owned', user);
  const answer = await client.sendMessage(text);
  return answer.task !== undefined ? answer.task.id : '';
}

/** Every kind of refusal. */
const ROWS: readonly RefusalRow[] = [
  {
    name: 'a task that does not exist',
    code: /^TASK_NOT_FOUND$/,
    agent: '/owned',
    user: 'ann',
    operations: ABOUT_TASK,
  },
  {
    name: 'the task of another user',
    code: /^TASK_NOT_FOUND$/,
    agent: '/owned',
    user: 'bob',
    operations: ABOUT_TASK,
    request: async (operation, { cell }) => REQUESTS[operation](await taskOf({ cell, user: 'ann' }, 'ask')),
  },
  {
    name: 'a task that has ended',
    code: /^(?:UNSUPPORTED_OPERATION|TASK_NOT_CANCELABLE)$/,
    agent: '/owned',
    user: 'ann',
    operations: [...SENDING, 'cancelTask'],
    request: async (operation, caller) => REQUESTS[operation](await taskOf(caller, 'end')),
  },
  {
    // Over JSON-RPC of 0.3 the refusal is an event of the stream, after the task that the client reads.
    name: 'a stream of a task that has ended',
    code: /^UNSUPPORTED_OPERATION$/,
    agent: '/owned',
    user: 'ann',
    operations: ['subscribeToTask'],
    versions: ['1.0'],
    request: async (operation, caller) => REQUESTS[operation](await taskOf(caller, 'end')),
  },
  {
    name: 'the context of another task',
    code: /^INVALID_PARAMS$/,
    agent: '/owned',
    user: 'ann',
    operations: SENDING,
    request: async (_, caller) => ({
      message: newMessage('hi', { taskId: await taskOf(caller, 'ask'), contextId: randomUUID() }),
    }),
  },
  {
    name: 'invalid parameters',
    code: /^INVALID_PARAMS$/,
    agent: '/owned',
    user: 'ann',
    operations: where((operation) => INVALID[operation] !== undefined && !takesMessage(operation)),
    request: (operation) => INVALID[operation] ?? {},
    differs: true,
  },
  {
    // The two bindings of 0.3 have other names for the members of a message.
    name: 'an invalid message',
    code: /^INVALID_PARAMS$/,
    agent: '/owned',
    user: 'ann',
    operations: SENDING,
    versions: ['1.0'],
    request: (operation) => INVALID[operation] ?? {},
  },
  { name: 'no credential', code: /^UNAUTHENTICATED$/, agent: '/owned', operations: ALL },
  {
    name: 'a credential without the scope',
    code: /^PERMISSION_DENIED$/,
    agent: '/owned',
    user: 'denied',
    operations: ALL,
  },
  {
    name: RATE,
    code: /^RESOURCE_EXHAUSTED$/,
    agent: '/rated',
    user: 'rated',
    operations: ALL,
    // The first call is allowed, and so is each whose shared counters answer late on a busy machine.
    tries: 10,
  },
  {
    name: 'an extension that is not declared',
    code: /^EXTENSION_SUPPORT_REQUIRED$/,
    agent: '/demanding',
    user: 'ann',
    operations: where((operation) => operation !== 'getExtendedAgentCard'),
  },
  {
    name: DECLARED,
    code: /^TASK_NOT_FOUND$/,
    agent: '/demanding',
    user: 'ann',
    operations: ['getTask', 'cancelTask', 'listTaskPushNotificationConfigs'],
    options: { extensions: [DEMANDED] },
  },
  // Clients of 0.3 read the task before its stream.
  {
    name: 'an agent without streams',
    code: /^UNSUPPORTED_OPERATION$/,
    agent: '/echo',
    operations: ['subscribeToTask'],
    versions: ['1.0'],
  },
  {
    name: 'an agent without push notifications',
    code: /^PUSH_NOTIFICATION_NOT_SUPPORTED$/,
    agent: '/echo',
    operations: PUSHING,
  },
  {
    name: 'an agent without an extended card',
    code: /^UNSUPPORTED_OPERATION$/,
    agent: '/echo',
    operations: ['getExtendedAgentCard'],
  },
  {
    name: 'a media type that the agent does not take',
    code: /^CONTENT_TYPE_NOT_SUPPORTED$/,
    agent: '/narrow',
    operations: SENDING,
    request: () => ({ message: newMessage('', { parts: [{ raw: 'AA==', mediaType: 'image/png' }] }) }),
  },
  {
    name: 'a media type that the agent does not give',
    code: /^CONTENT_TYPE_NOT_SUPPORTED$/,
    agent: '/narrow',
    operations: SENDING,
    request: () => ({ message: newMessage('hi'), configuration: { acceptedOutputModes: ['image/png'] } }),
  },
  {
    name: TOO_LONG,
    code: /^PAYLOAD_TOO_LARGE$/,
    agent: '/narrow',
    operations: SENDING,
    request: () => ({ message: newMessage('x'.repeat(2 * NARROW.bodyBytes)) }),
  },
  {
    name: OTHER_VERSION,
    code: /^VERSION_NOT_SUPPORTED$/,
    agent: '/owned',
    user: 'ann',
    operations: ALL,
    options: { headers: { 'a2a-version': '9.9' } },
    // A service of gRPC has one version.
    isToldApart: true,
  },
  {
    name: 'a storage that cannot work now',
    code: /^UNAVAILABLE$/,
    agent: '/impatient',
    user: FAULTS.storage,
    operations: STORING,
  },
  {
    name: 'a storage with a fault of its code',
    code: /^INTERNAL_ERROR$/,
    agent: '/impatient',
    user: FAULTS.code,
    operations: STORING,
  },
  {
    name: 'an agent with a fault of its code',
    code: /^INTERNAL_ERROR$/,
    agent: '/faulty',
    user: FAULTS.code,
    operations: ALL,
  },
  {
    name: 'an answer that is none of the protocol',
    code: /^INVALID_AGENT_RESPONSE$/,
    agent: '/faulty',
    user: FAULTS.answer,
    operations: where((operation) => OPERATIONS[operation].response !== undefined),
  },
  ...ERROR_CODES.map(
    (code): RefusalRow => ({
      name: `${code} of the agent`,
      code: new RegExp(`^${code}$`),
      agent: '/faulty',
      user: code,
      operations: ['sendMessage', 'sendStreamingMessage', 'getTask'],
      differs: NO_EXTENDED_CARD.startsWith(`${code} `),
    }),
  ),
];

/** The answer to the first call that is refused so, or to the last try. */
async function refusedCall(
  call: () => Promise<unknown>,
  { code, tries }: { readonly code: RegExp; readonly tries: number },
): Promise<unknown> {
  for (let left = tries - 1; left > 0; left--) {
    const answer = await refusal(call());
    if (code.test((answer as { code?: string }).code ?? '')) return answer;
  }
  return refusal(call());
}

let rows = 0;

/** Every refusal of every operation as a scenario of the matrix. */
export const REFUSALS: readonly MatrixScenario[] = ROWS.flatMap(
  ({ name, code, agent, user, operations, request, options, before, tries = 1, isToldApart, ...row }) =>
    operations.map((operation) => ({
      name: `${operation}, refused: ${name}`,
      ...row,
      operation,
      async play(cell) {
        // Rates and streams are limited for each user.
        const own = `${user}-${rows++}`;
        const client = await cell.client(agent, user && own, { resume: { attempts: 0 } });
        await before?.(client, operation);
        const made = (await request?.(operation, { cell, user: own })) ?? REQUESTS[operation](MISSING);
        const refused = await refusedCall(() => callOperation(client, operation, made, options), { code, tries });
        expect((refused as { code?: string }).code, `${operation}: ${name}`).toMatch(code);
        assertNoInternals(JSON.stringify(refused));
        return isToldApart ? { code: (refused as { code: string }).code } : refused;
      },
    })),
);
