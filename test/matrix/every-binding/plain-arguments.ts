import { newWebSocketRpcSession } from 'capnweb';
import { rejectedError } from '../../../packages/capnweb/src/binding/client-errors.js';
import type {
  ClientBinding,
  ClientTransport,
  OpenedStream,
  ReceivedEvent,
  TransportCall,
} from '../../../packages/parley/src/client/client-transport.js';
import { clientV0_3JsonRpc as codec } from '../../../packages/parley/src/codec/v0_3/client-codec.js';
import { isTerminal } from '../../../packages/parley/src/model/task-state.js';
import type {
  OperationName,
  OperationTypes,
  StreamingOperationName,
  UnaryOperationName,
} from '../../../packages/parley/src/operations/operations.js';

/** The operations that have a method with plain arguments, and a form in 0.3. */
export const PLAIN_OPERATIONS: readonly OperationName[] = [
  'sendMessage',
  'sendStreamingMessage',
  'getTask',
  'cancelTask',
];

/** The stock client of Cap'n Web with plain arguments, as a binding. */
export const plainArguments: ClientBinding = {
  speaks: ({ protocolBinding, protocolVersion }) => protocolBinding === 'CAPNWEB' && protocolVersion === '0.3',
  transport: async (agentInterface) => new PlainTransport(agentInterface),
};

/** An event for a callback. */
interface CallbackEvent {
  readonly type: 'status' | 'artifact';
  readonly taskId: string;
  readonly contextId: string;
  readonly status?: { readonly state: string };
}

/** The methods, without the types that TypeScript cannot follow through a stub. */
interface Service {
  authenticate(credential: object): Service;
  sendMessage(message: unknown, configuration: unknown): Promise<object>;
  sendMessageStreaming(message: unknown, configuration: unknown, callback: object): Promise<object>;
  getTask(id: unknown, historyLength: unknown): Promise<object>;
  cancelTask(id: unknown): Promise<object>;
}

/** Calls one session for all calls of one client. */
class PlainTransport implements ClientTransport {
  readonly agentInterface: ClientTransport['agentInterface'];
  readonly address: string;
  #socket: WebSocket | undefined;
  #service: Service | undefined;

  constructor(agentInterface: ClientTransport['agentInterface']) {
    this.agentInterface = agentInterface;
    this.address = agentInterface.url.replace(/^ws/, 'http');
  }

  async call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']> {
    const { message, configuration, id, historyLength } = codec.encodeRequest(call.operation, call.request);
    const service = this.#of(call);
    const answer =
      call.operation === 'sendMessage'
        ? service.sendMessage(message, configuration)
        : call.operation === 'getTask'
          ? service.getTask(id, historyLength)
          : service.cancelTask(id);
    return codec.decodeResponse(call.operation, await answer.catch(throwRejection));
  }

  async stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream> {
    const { message, configuration } = codec.encodeRequest(call.operation, call.request);
    const events = new CallbackEvents(call.signal, 'taskId' in (message as object));
    const begun = await this.#of(call).sendMessageStreaming(message, configuration, events.take).catch(throwRejection);
    call.opened?.();
    // The task of a stream is a remote object, which is a function here.
    if (typeof begun !== 'function') events.end({ ...begun });
    else events.onEnd = () => (begun as unknown as Disposable)[Symbol.dispose]();
    const batches = events.batches();
    return { first: await batches.next(), events: batches };
  }

  close(): void {
    this.#socket?.close();
  }

  #of({ headers }: TransportCall): Service {
    if (this.#service !== undefined) return this.#service;
    this.#socket = new WebSocket(this.agentInterface.url);
    const service = newWebSocketRpcSession(this.#socket) as unknown as Service;
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
    this.#service = token === undefined ? service : service.authenticate({ type: 'bearer', token });
    return this.#service;
  }
}

/**
 * An outcome whose lists of events begin with the state of a task, and not with all of it. The metadata lacks
 * the user, which the server adds. Ids get new numbers.
 */
export function beginsWithState(outcome: unknown): unknown {
  const numbers = new Map<string, string>();
  const text = JSON.stringify(reduceValue(outcome)).replace(/\bid-\d+/g, (id) => {
    if (!numbers.has(id)) numbers.set(id, `id-${numbers.size}`);
    return numbers.get(id) as string;
  });
  return JSON.parse(text);
}

function reduceValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, at) => (at === 0 ? stateOf(item) : reduceValue(item)));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => name !== 'metadata' || !('userId' in member));
  return Object.fromEntries(members.map(([name, member]) => [name, reduceValue(member)]));
}

function stateOf(event: unknown): unknown {
  const { task, ...others } = (event ?? {}) as { readonly task?: Readonly<Record<string, unknown>> };
  if (task === undefined || Object.keys(others).length > 0) return reduceValue(event);
  return { task: { id: task.id, contextId: task.contextId, status: task.status } };
}

function throwRejection(error: unknown): never {
  throw rejectedError(error);
}

/** The events of one callback as those of a stream, until the turn is over. */
class CallbackEvents {
  /** Called when the reader needs no more. */
  onEnd = (): void => {};
  readonly #signal: AbortSignal | undefined;
  readonly #arrived: object[] = [];
  /** True until the artifacts have arrived that the task had before. */
  #isTask: boolean;
  #hasBegun = false;
  #isOver = false;
  #wake = (): void => {};

  constructor(signal: AbortSignal | undefined, isFollowUp: boolean) {
    this.#signal = signal;
    this.#isTask = isFollowUp;
    signal?.addEventListener('abort', () => this.#wake());
  }

  readonly take = ({ type, ...event }: CallbackEvent): void => {
    const { taskId: id, contextId, status } = event;
    const isFirst = !this.#hasBegun;
    // The state of a task that has ended comes after its artifacts.
    if (type === 'artifact' && (isFirst || this.#isTask)) return;
    this.#hasBegun = true;
    if (isFirst) this.#arrived.push({ kind: 'task', id, contextId, status });
    else this.#arrived.push({ kind: type === 'status' ? 'status-update' : 'artifact-update', ...event });
    if (!isFirst) this.#isTask = false;
    const state = `TASK_STATE_${status?.state.replace('-', '_').toUpperCase()}` as Parameters<typeof isTerminal>[0];
    if (isTerminal(state) || (!isFirst && /required/.test(status?.state ?? ''))) this.#isOver = true;
    this.#wake();
  };

  /** The answer of an agent that makes no task. */
  end(message: object): void {
    this.#arrived.push(message);
    this.#isOver = true;
  }

  async *batches(): AsyncGenerator<readonly ReceivedEvent[], undefined> {
    try {
      for (;;) {
        this.#signal?.throwIfAborted();
        const next = this.#arrived.splice(0, 1);
        if (next.length === 0 && this.#isOver) return undefined;
        if (next.length === 0) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        for (const value of next) {
          const event = codec.decodeEvent(value);
          if (event !== undefined) yield [{ event }];
        }
      }
    } finally {
      this.onEnd();
    }
  }
}
