import { randomUUID } from 'node:crypto';
import type { AgentWire, RawRequest, WireStream } from './wire/agent-wire.js';
import { excerptOf, isJson, itemsOf, type Json, memberOf } from './wire/json.js';
import type { OperationName } from './wire/operations.js';

/** A part of a message or artifact, as on the wire. */
export type Part = Json;

/** The part of a message that the checks read. */
export interface Message {
  readonly messageId: string;
  readonly role: string;
  readonly parts: readonly Part[];
}

/** The part of a task that the checks read. */
export interface Task {
  readonly id: string;
  readonly contextId: string | undefined;
  readonly status: TaskStatus;
  /** Undefined if the answer has no such member. */
  readonly artifacts: readonly Artifact[] | undefined;
  readonly history: readonly Message[];
}

/** A status, with the short name of its state: `COMPLETED`. */
export interface TaskStatus {
  readonly state: string;
  readonly timestamp: string | undefined;
  readonly message: Message | undefined;
}

/** The part of an artifact that the checks read. */
export interface Artifact {
  readonly parts: readonly Part[];
}

/** The answer to SendMessage. */
export type SendAnswer = { readonly task: Task } | { readonly message: Message };

/** A message to send. Absent members get a random id and a short text. */
export interface OutgoingMessage {
  readonly messageId?: string;
  readonly parts?: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
}

/** The capabilities of a card, as on the wire. */
export interface Capabilities {
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  readonly extendedAgentCard: boolean;
}

/** Parts of an agent under test. */
interface TestedAgentOptions {
  readonly wire: AgentWire;
  readonly capabilities: Capabilities;
  /** The time limit of a check. */
  readonly signal: AbortSignal;
}

/** The agent under test during one check: calls over one interface, answers in few types. */
export class TestedAgent {
  readonly wire: AgentWire;
  readonly capabilities: Capabilities;
  readonly signal: AbortSignal;

  constructor({ wire, capabilities, signal }: TestedAgentOptions) {
    this.wire = wire;
    this.capabilities = capabilities;
    this.signal = signal;
  }

  /** Calls an operation and returns its result. */
  call(operation: OperationName, params: Json, alter?: (request: RawRequest) => RawRequest): Promise<unknown> {
    return this.wire.result({ operation, params, signal: this.signal, ...(alter !== undefined && { alter }) });
  }

  /** Sends a message. Without `returnImmediately` the agent answers when the work is done (Spec §3.2.2). */
  async send(
    message: OutgoingMessage,
    {
      returnImmediately = false,
      alter,
    }: { returnImmediately?: boolean; alter?: (request: RawRequest) => RawRequest } = {},
  ): Promise<SendAnswer> {
    const configuration = returnImmediately ? { configuration: { returnImmediately } } : {};
    const result = await this.call('SendMessage', { message: complete(message), ...configuration }, alter);
    const { task, message: said } = isJson(result) ? result : {};
    if (said !== undefined) return { message: messageIn(said) };
    return { task: taskIn(task ?? result) };
  }

  /** Sends a message and opens its stream. */
  stream(message: OutgoingMessage): Promise<WireStream> {
    return this.#open('SendStreamingMessage', { message: complete(message) });
  }

  /** Subscribes to a task. */
  subscribe(id: string): Promise<WireStream> {
    return this.#open('SubscribeToTask', { id });
  }

  /** Gets a task. */
  async getTask(id: string, params: Json = {}): Promise<Task> {
    return taskIn(await this.call('GetTask', { id, ...params }));
  }

  /** Cancels a task. */
  async cancelTask(id: string): Promise<Task> {
    return taskIn(await this.call('CancelTask', { id }));
  }

  /** Lists tasks: a page, and the token of the next one. */
  async listTasks(params: Json): Promise<{ tasks: readonly Task[]; nextPageToken: string; totalSize: unknown }> {
    const result = await this.call('ListTasks', params);
    const tasks = memberOf(result, 'tasks');
    if (!Array.isArray(tasks)) throw new Error(`the answer has no list of tasks: ${excerptOf(result)}`);
    const nextPageToken = String(memberOf(result, 'nextPageToken') ?? '');
    return { tasks: tasks.map(taskIn), nextPageToken, totalSize: memberOf(result, 'totalSize') };
  }

  /** Lists the push configurations of a task. */
  async listConfigs(taskId: string): Promise<readonly unknown[]> {
    const result = await this.call('ListTaskPushNotificationConfigs', { taskId });
    return itemsOf(memberOf(result, 'configs'));
  }

  #open(operation: OperationName, params: Json): Promise<WireStream> {
    return this.wire.stream({ operation, params, signal: this.signal });
  }
}

function complete({ messageId = randomUUID(), parts = [{ text: 'Hello' }], ...others }: OutgoingMessage): Json {
  return { messageId, role: 'ROLE_USER', parts, ...others };
}

/** Reads a task. @throws Error if the value has no id or no state. */
export function taskIn(value: unknown): Task {
  const [id, contextId] = [memberOf(value, 'id'), memberOf(value, 'contextId')];
  const status = memberOf(value, 'status');
  if (typeof id !== 'string' || typeof memberOf(status, 'state') !== 'string')
    throw new Error(`there is no task with an id and a state: ${excerptOf(value)}`);
  const artifacts = memberOf(value, 'artifacts');
  return {
    id,
    contextId: typeof contextId === 'string' && contextId !== '' ? contextId : undefined,
    status: statusIn(status),
    artifacts: artifacts === undefined ? undefined : itemsOf(artifacts).map((item) => ({ parts: partsIn(item) })),
    history: itemsOf(memberOf(value, 'history')).map(messageIn),
  };
}

/** Reads a status. The state is short: `COMPLETED`. */
export function statusIn(value: unknown): TaskStatus {
  const [timestamp, message] = [memberOf(value, 'timestamp'), memberOf(value, 'message')];
  return {
    state: String(memberOf(value, 'state')).replace('TASK_STATE_', ''),
    timestamp: typeof timestamp === 'string' ? timestamp : undefined,
    message: isJson(message) ? messageIn(message) : undefined,
  };
}

function messageIn(value: unknown): Message {
  return {
    messageId: String(memberOf(value, 'messageId')),
    role: String(memberOf(value, 'role')),
    parts: partsIn(value),
  };
}

function partsIn(value: unknown): readonly Part[] {
  return itemsOf(memberOf(value, 'parts')).filter(isJson);
}
