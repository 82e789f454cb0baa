import { IDEMPOTENT_SEND_EXTENSION } from '../agent-card/offered-extensions.js';
import type { AgentCard } from '../model/agent-card.js';
import type {
  OperationName,
  OperationTypes,
  StreamingOperationName,
  UnaryOperationName,
} from '../operations/operations.js';
import type { AgentConnection } from './agent-connection.js';
import type { ClientCallContext } from './call-options.js';
import type { ClientRuntime } from './client-runtime.js';
import type { ClientTransport, ReceivedEvent, TransportCall } from './client-transport.js';
import type { CredentialGuard } from './credential-guard.js';
import { type RetryOptions, withRetries } from './send-retries.js';

/** One call before it has an interface. */
export interface AgentCall<Name extends OperationName> {
  readonly operation: Name;
  readonly request: OperationTypes[Name]['request'];
  readonly context: ClientCallContext;
  /** Told once a stream has begun, before its first event. */
  readonly opened?: () => void;
}

/** What calls are made with. */
export interface AgentCallsOptions {
  readonly card: () => AgentCard;
  readonly connection: AgentConnection;
  readonly guard: CredentialGuard;
  /** Instead of the tenant of the interface. */
  readonly tenant: string | undefined;
  readonly retry: RetryOptions;
  readonly runtime: ClientRuntime;
}

/** Calls through whatever interface is in use, with its tenant, credentials and, for messages, retries. */
export class AgentCalls {
  readonly #options: AgentCallsOptions;

  constructor(options: AgentCallsOptions) {
    this.#options = options;
  }

  /** Makes a call that is answered once. */
  unary<Name extends UnaryOperationName>(call: AgentCall<Name>): Promise<OperationTypes[Name]['response']> {
    return this.#tried(call, () => this.#placed(call, (transport, parts) => transport.call(parts)));
  }

  /** Opens a stream; what the agent refuses is thrown before the first list of events. */
  async *stream(call: AgentCall<StreamingOperationName>): AsyncGenerator<readonly ReceivedEvent[], void> {
    const { events, first } = await this.#tried(call, () =>
      this.#placed(call, async (transport, parts) => {
        const events = transport.stream(parts)[Symbol.asyncIterator]();
        return { events, first: await events.next() };
      }),
    );
    try {
      for (let next = first; next.done !== true; next = await events.next()) yield next.value;
    } finally {
      await events.return?.();
    }
  }

  /** Whether the agent answers a repeated message with the outcome of the first. */
  get isIdempotent(): boolean {
    const { extensions = [] } = this.#options.card().capabilities;
    return extensions.some(({ uri }) => uri === IDEMPOTENT_SEND_EXTENSION);
  }

  #tried<T>({ operation, context }: AgentCall<OperationName>, attempt: () => Promise<T>): Promise<T> {
    if (operation !== 'sendMessage' && operation !== 'sendStreamingMessage') return attempt();
    const { retry: options, runtime } = this.#options;
    return withRetries({ attempt, options, isIdempotent: this.isIdempotent, signal: context.signal, runtime });
  }

  #placed<Name extends OperationName, T>(
    { operation, request, context, opened }: AgentCall<Name>,
    run: (transport: ClientTransport, call: TransportCall<Name>) => Promise<T>,
  ): Promise<T> {
    const { connection, guard, runtime } = this.#options;
    const { signal, extensions, lastEventId } = context;
    const began = runtime.clock.monotonic();
    return connection.use(async (transport) => {
      const { url, protocolBinding } = transport.agentInterface;
      const placed = this.#withTenant(request, transport);
      try {
        const answer = await guard.call({ url, signal }, ({ headers, query }) =>
          run(transport, {
            operation,
            request: placed,
            extensions,
            headers: { ...context.headers, ...headers },
            ...(query && { query }),
            signal,
            lastEventId,
            opened,
          }),
        );
        runtime.logger.debug('called', {
          operation,
          protocolBinding,
          ms: Math.round(runtime.clock.monotonic() - began),
        });
        return answer;
      } catch (error) {
        runtime.logger.debug('call failed', { operation, protocolBinding, error });
        throw error;
      }
    });
  }

  /** The tenant is that of the interface, or none (SEL-3). */
  #withTenant<Request extends object>(request: Request, { agentInterface }: ClientTransport): Request {
    const tenant = this.#options.tenant ?? agentInterface.tenant;
    return tenant === undefined || tenant === '' ? request : { ...request, tenant };
  }
}
