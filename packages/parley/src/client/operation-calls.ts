import { IDEMPOTENT_SEND_EXTENSION, STREAM_RESUME_EXTENSION } from '../agent-card/offered-extensions.js';
import { NO_CREDENTIALS, type RequestCredentials } from '../auth/credential-provider.js';
import type { AgentCard } from '../model/agent-card.js';
import {
  answersCard,
  isStreaming,
  type OperationName,
  type OperationTypes,
  type StreamingOperationName,
  type UnaryOperationName,
} from '../operations/operations.js';
import { type LogFields, silentLogger } from '../telemetry/logger.js';
import type { AgentConnection } from './agent-connection.js';
import type { ClientCallContext } from './call-options.js';
import { CallRecovery } from './call-recovery.js';
import type { ClientRuntime } from './client-runtime.js';
import {
  addressOf,
  type ClientTransport,
  type EventBatches,
  type OpenedStream,
  type ReceivedEvent,
  type TransportCall,
} from './client-transport.js';
import type { CredentialGuard } from './credential-guard.js';
import type { RetryOptions } from './send-retries.js';

/** One call, before an interface is chosen for it. */
export interface OperationCall<Name extends OperationName> {
  readonly operation: Name;
  readonly request: OperationTypes[Name]['request'];
  readonly context: ClientCallContext;
  /** Called once a stream has begun, before its first event. */
  readonly opened?: () => void;
}

/** The options of `OperationCalls`. */
interface OperationCallsOptions {
  readonly card: () => AgentCard;
  readonly connection: AgentConnection;
  readonly guard: CredentialGuard;
  /** Replaces the tenant of the interface. */
  readonly tenant: string | undefined;
  readonly retry: RetryOptions;
  readonly runtime: ClientRuntime;
  /** Verifies, if the caller asks for it, and reads a card that arrived as an answer. */
  readonly readCard: (document: object, signal: AbortSignal | undefined) => Promise<AgentCard>;
}

/** Calls operations over the interface in use, with its tenant, credentials and, for messages, retries. */
export class OperationCalls {
  readonly #options: OperationCallsOptions;
  /** True if there is a logger. Without one the client does not read the clock, because that costs time. */
  readonly #isLogged: boolean;

  constructor(options: OperationCallsOptions) {
    this.#options = options;
    this.#isLogged = options.runtime.logger !== silentLogger;
  }

  /** Calls an operation that has one answer. */
  unary<Name extends UnaryOperationName>(call: OperationCall<Name>): Promise<OperationTypes[Name]['response']> {
    const { operation, context } = call;
    const made = this.#make(call, callUnary);
    if (!answersCard(operation)) return made;
    return made.then((card) => this.#options.readCard(card as object, context.signal)) as typeof made;
  }

  /** Opens a stream when its first event is read. An error of the agent is thrown in place of that event. */
  stream(call: OperationCall<StreamingOperationName>): EventBatches {
    return new LateBatches(() => this.#make(call, openStream));
  }

  /** The credentials of the calls. */
  get guard(): CredentialGuard {
    return this.#options.guard;
  }

  /** True if the agent answers a repeated message with the outcome of the first. */
  get isIdempotent(): boolean {
    return this.#isOffered(IDEMPOTENT_SEND_EXTENSION);
  }

  #isOffered(extension: string): boolean {
    return (this.#options.card().capabilities.extensions ?? []).some(({ uri }) => uri === extension);
  }

  /** Makes a call, and repeats it as long as `CallRecovery` finds a remedy. */
  async #make<Name extends OperationName, T>(call: OperationCall<Name>, run: Run<Name, T>): Promise<T> {
    const { connection, guard, runtime } = this.#options;
    let recovery: CallRecovery | undefined;
    for (;;) {
      const began = this.#isLogged ? runtime.clock.monotonic() : 0;
      let transport: ClientTransport | undefined;
      let credentials: RequestCredentials | undefined;
      try {
        const made = connection.transport;
        transport = made instanceof Promise ? await made : made;
        credentials = guard.isOpen
          ? NO_CREDENTIALS
          : await guard.credentials(addressOf(transport), call.context.signal);
        // It may have been closed while its transport was loaded, or during a login.
        connection.requireOpen();
        const answer = await run(transport, this.#partsOf(call, transport, credentials));
        if (this.#isLogged) this.#log('called', call, { ms: Math.round(runtime.clock.monotonic() - began) });
        connection.answered(transport);
        recovery?.answered();
        return answer;
      } catch (error) {
        this.#log('call failed', call, { error });
        recovery ??= this.#recoveryOf(call);
        await recovery.after(error, { transport, credentials });
      }
    }
  }

  #recoveryOf({ request, context: { signal } }: OperationCall<OperationName>): CallRecovery {
    const sendsMessage = 'message' in request;
    const taskId = sendsMessage ? request.message.taskId : undefined;
    return new CallRecovery({ ...this.#options, sendsMessage, taskId, signal, isIdempotent: this.isIdempotent });
  }

  #partsOf<Name extends OperationName>(
    { operation, request, context, opened }: OperationCall<Name>,
    transport: ClientTransport,
    { headers, query }: RequestCredentials,
  ): TransportCall<Name> {
    const { signal, timeLimit, extensions, lastEventId } = context;
    const own = this.#options.guard.allowed(addressOf(transport), context.headers);
    const resumes = transport.declaresResumption && isStreaming(operation) && this.#isOffered(STREAM_RESUME_EXTENSION);
    return {
      operation,
      request: this.#withTenant(request, transport),
      extensions: resumes ? [...new Set([...extensions, STREAM_RESUME_EXTENSION])] : extensions,
      headers: headers === undefined ? own : { ...own, ...headers },
      query,
      signal,
      timeLimit,
      lastEventId,
      opened,
    };
  }

  #log(what: string, { operation }: OperationCall<OperationName>, fields: LogFields): void {
    const { connection, runtime } = this.#options;
    const { protocolBinding } = connection.agentInterface;
    runtime.logger.debug(what, { operation, protocolBinding, ...fields });
  }

  /** Adds the tenant of the interface, if there is one (Spec §8.3.2). */
  #withTenant<Request extends object>(request: Request, { agentInterface }: ClientTransport): Request {
    const tenant = this.#options.tenant ?? agentInterface.tenant;
    return tenant === undefined || tenant === '' ? request : { ...request, tenant };
  }
}

/** Makes a call over one interface. */
type Run<Name extends OperationName, T> = (transport: ClientTransport, call: TransportCall<Name>) => Promise<T>;

function callUnary<Name extends UnaryOperationName>(
  transport: ClientTransport,
  call: TransportCall<Name>,
): Promise<OperationTypes[Name]['response']> {
  return transport.call(call);
}

function openStream(transport: ClientTransport, call: TransportCall<StreamingOperationName>): Promise<OpenedStream> {
  return transport.stream(call);
}

type Batch = IteratorResult<readonly ReceivedEvent[], undefined>;

const END: Batch = Object.freeze({ value: undefined, done: true });

/**
 * The batches of a stream that opens when the first one is read. Later reads call the stream directly, because a stream
 * may deliver thousands of batches a second.
 */
class LateBatches implements EventBatches, AsyncIterator<readonly ReceivedEvent[], undefined> {
  readonly #open: () => Promise<OpenedStream>;
  #events: OpenedStream['events'] | undefined;
  #isClosed = false;

  constructor(open: () => Promise<OpenedStream>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Batch> {
    return this.#events === undefined ? this.#first() : this.#events.next();
  }

  async return(): Promise<Batch> {
    this.#isClosed = true;
    await this.#events?.return?.();
    return END;
  }

  async #first(): Promise<Batch> {
    if (this.#isClosed) return END;
    const { events, first } = await this.#open();
    this.#events = events;
    if (!this.#isClosed) return first;
    await events.return?.();
    return END;
  }
}
