import { CredentialEnds } from '../src/app/middleware/credential-ends.js';
import { type Access, gateExchange } from '../src/app/middleware/gate.js';
import type { Authenticator } from '../src/auth/authenticator.js';
import { type BindingContext, DEFAULT_REQUEST_LIMITS } from '../src/bindings/http/binding-context.js';
import type { Exchange, ExchangeResponse } from '../src/bindings/http/exchange.js';
import { httpJsonBinding, httpJsonRefusals } from '../src/bindings/http-json/http-json-binding.js';
import { jsonRpcBinding, refusedJsonRpc } from '../src/bindings/jsonrpc/jsonrpc-binding.js';
import { v1_0 } from '../src/codec/v1_0/wire-codec.js';
import type { WireCodec } from '../src/codec/wire-codec.js';
import type { AgentCapabilities, AgentCard } from '../src/model/agent-card.js';
import type { LogFields, Logger } from '../src/telemetry/logger.js';
import { MemoryRequest, type MemoryRequestOptions } from './exchange-request.js';
import { ManualClock } from './manual-clock.js';
import { RecordingHandler } from './recording-handler.js';

/** The base path of the HTTP+JSON interface in these tests. */
export const REST_BASE = '/agent';

/** Differences from an agent with all capabilities in version 1.0. */
export interface BoundAgentOptions {
  readonly capabilities?: AgentCapabilities;
  readonly codecs?: readonly WireCodec[];
  readonly interfaces?: AgentCard['supportedInterfaces'];
  readonly endpoint?: Partial<BindingContext>;
  readonly authenticator?: Authenticator;
}

/** A line the endpoint logged. */
export interface LogLine {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

/** A recording handler behind both HTTP bindings. */
export class BoundAgent {
  readonly handler = new RecordingHandler();
  readonly clock = new ManualClock();
  readonly log: LogLine[] = [];
  card: AgentCard;
  readonly #options: BoundAgentOptions;
  readonly #ends = new CredentialEnds(this.clock);

  constructor(options: BoundAgentOptions = {}) {
    const { capabilities, interfaces } = options;
    this.#options = options;
    this.card = {
      name: 'Bound',
      description: 'An agent of a test',
      version: '1.0.0',
      supportedInterfaces: interfaces ?? [
        { url: 'http://agent.example/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: 'http://agent.example/agent', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, ...capabilities },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
    };
  }

  get jsonRpc(): Exchange {
    const { codecs = [v1_0] } = this.#options;
    return this.#behindGate(jsonRpcBinding(this.#bound, codecs), refusedJsonRpc);
  }

  get rest(): Exchange {
    const { codecs = [v1_0] } = this.#options;
    const bound = this.#bound;
    const { versionWhenAbsent } = bound;
    const refused = httpJsonRefusals({ codecs, basePath: REST_BASE, versionWhenAbsent });
    return this.#behindGate(httpJsonBinding(bound, codecs, REST_BASE), refused);
  }

  /** The context with the card as it is now. */
  get #bound(): BindingContext {
    const { endpoint, authenticator } = this.#options;
    return {
      handler: this.handler,
      card: this.card,
      logger: this.#logger(),
      clock: this.clock,
      limits: DEFAULT_REQUEST_LIMITS,
      heartbeatMs: 15_000,
      versionWhenAbsent: '0.3',
      ...(authenticator !== undefined && { challenges: authenticator.challenges }),
      ...endpoint,
    };
  }

  #behindGate(exchange: Exchange, refuse: Access['refuse']): Exchange {
    const { authenticator } = this.#options;
    if (authenticator === undefined) return exchange;
    const bound = this.#bound;
    const accessOf = () => ({ authenticator, refuse });
    return gateExchange(exchange, { ...bound, ends: this.#ends, limits: bound, accessOf });
  }

  /** A well-formed JSON-RPC call; `parts` may spoil it. */
  rpc(method: string, params?: unknown, parts: MemoryRequestOptions = {}): Promise<ExchangeResponse> {
    const body = parts.body ?? { jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) };
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', ...parts.headers };
    return this.jsonRpc(new MemoryRequest({ ...parts, headers, body }));
  }

  /** A well-formed HTTP+JSON call, such as `POST /message:send`; `parts` may spoil it. */
  call(line: string, parts: MemoryRequestOptions = {}): Promise<ExchangeResponse> {
    const [method = '', url = ''] = line.split(' ');
    const typed = parts.body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { 'a2a-version': '1.0', ...typed, ...parts.headers };
    return this.rest(new MemoryRequest({ method, url: `${REST_BASE}${url}`, ...parts, headers }));
  }

  #logger(): Logger {
    const line = (level: keyof Logger) => (message: string, fields?: LogFields) => {
      this.log.push({ level, message, fields });
    };
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  }
}

/** A request that SendMessage takes. */
export const HELLO = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } } as const;
