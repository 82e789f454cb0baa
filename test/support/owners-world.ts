import { capnwebBinding } from '../../packages/capnweb/src/index.js';
import { grpcBinding } from '../../packages/grpc/src/index.js';
import type { Authenticator } from '../../packages/parley/src/auth/authenticator.js';
import { HttpJsonTransport } from '../../packages/parley/src/bindings/http-json/http-json-transport.js';
import { JsonRpcTransport } from '../../packages/parley/src/bindings/jsonrpc/jsonrpc-transport.js';
import type { ClientTransport, TransportCall } from '../../packages/parley/src/client/client-transport.js';
import type { ClientCodec } from '../../packages/parley/src/codec/client-codec.js';
import { CLIENT_VERSIONS } from '../../packages/parley/src/codec/client-codecs.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import {
  isStreaming,
  OPERATIONS,
  type OperationName,
  type OperationTypes,
  type StreamingOperationName,
  type UnaryOperationName,
} from '../../packages/parley/src/operations/operations.js';
import { TurnBudget } from '../../packages/parley/src/runtime/turn-budget.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { clientWays } from './client-ways.js';

const ORIGIN = 'http://agent.localhost';

/** A caller: a user and a tenant. A user of "" is anonymous. */
export interface Caller {
  readonly user: string;
  readonly tenant?: string;
}

/** An answer without the headers that differ from call to call. */
export interface Heard {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The time from the request to the end of the answer. */
  readonly ms: number;
}

/** One binding in one version. */
export interface Way {
  readonly name: string;
  readonly hasTenants: boolean;
  has(operation: OperationName): boolean;
  /** The answer to a call, as it was sent. Reads streams to their end. */
  call<Name extends OperationName>(
    caller: Caller,
    operation: Name,
    request: OperationTypes[Name]['request'],
    headers?: Readonly<Record<string, string>>,
  ): Promise<Heard>;
}

/** Takes the token for the name of its user. Users may name the tenants `north` and `south`, and `eve` none. */
const authenticator: Authenticator = {
  challenges: ['Bearer'],
  optional: true,
  authenticate: (credentials) => {
    const name = /^Bearer (.+)$/.exec(credentials.header('authorization') ?? '')?.[1];
    if (name === undefined) return { kind: 'anonymous' };
    return { kind: 'user', user: { id: `test|${name}`, tenants: name === 'eve' ? [] : ['north', 'south'] } };
  },
};

/** Asks for input after `ask`. Otherwise completes with the number of tasks and messages that it can read. */
const executor: AgentExecutor = {
  async execute(context, events) {
    if (context.text === 'ask') return events.inputRequired('more?');
    const references = await context.referenceTasks();
    await events.complete(`${references.length} references, ${context.history.length} messages before`);
  },
};

/** A server of one agent on a storage, over every binding in every version. */
export async function ownersWorld(storage: TaskStorage) {
  const server = createA2AServer({
    agent: executor,
    storage,
    authenticator,
    extendedAgentCard: (card) => card,
    versions: ['1.0', '0.3', '0.2.5'],
    baseServer: {},
    bindings: [capnwebBinding(), grpcBinding({ port: 0, listed: 'public' })],
    idempotency: { anonymous: true },
    logger: silentLogger,
    metrics: false,
    logRequests: false,
  });
  const ask = (url: string, init: RequestInit) => server.fetch(new Request(url, init));
  await server.listen(0);
  const further = await clientWays(server);
  return {
    ways: [...(await waysOf(ask)), ...further.ways],
    async [Symbol.asyncDispose]() {
      further.close();
      await server.close({ graceMs: 0 });
    },
  };
}

type Ask = (url: string, init: RequestInit) => Promise<Response>;

async function waysOf(ask: Ask): Promise<readonly Way[]> {
  const ways: Way[] = [];
  for (const [version, name] of [
    ['1.0', '1.0'],
    ['0.3', '0.3'],
    ['0.2', '0.2.5'],
  ] as const) {
    const codecs = await CLIENT_VERSIONS.get(version)?.();
    if (codecs === undefined) throw new Error(`No client speaks ${version}`);
    ways.push(
      wayOf({
        name: `JSON-RPC ${name}`,
        version,
        codec: codecs.jsonRpc,
        binding: 'JSONRPC',
        ask,
        urlOf: () => `${ORIGIN}/a2a/jsonrpc`,
      }),
      wayOf({
        name: `HTTP+JSON ${name}`,
        version,
        codec: codecs.httpJson,
        binding: 'HTTP+JSON',
        ask,
        urlOf: () => `${ORIGIN}/a2a/rest`,
      }),
    );
    if (name === '0.2.5') {
      const urlOf = (operation: OperationName) =>
        `${ORIGIN}/${OPERATIONS[operation].request === 'SendMessageRequest' ? 'communicate' : 'delegate'}`;
      ways.push(wayOf({ name: 'base server', version, codec: codecs.jsonRpc, binding: 'JSONRPC', ask, urlOf }));
    }
  }
  return ways;
}

interface WayOptions {
  readonly name: string;
  readonly version: string;
  readonly codec: ClientCodec;
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  readonly ask: Ask;
  readonly urlOf: (operation: OperationName) => string;
}

function wayOf({ name, version, codec, binding, ask, urlOf }: WayOptions): Way {
  const has = (operation: OperationName) =>
    binding === 'JSONRPC' ? codec.methodOf(operation) !== undefined : codec.routesOf(operation).length > 0;
  return {
    name,
    hasTenants: version === '1.0',
    has,
    async call({ user, tenant }, operation, request, headers = {}) {
      let heard: Heard | undefined;
      const caller = {
        answerBytes: 1e7,
        eventBytes: 1e7,
        answerItems: 1e6,
        turn: new TurnBudget(systemClock, 10),
        request: async (url: string, init: RequestInit) => {
          const start = performance.now();
          const response = await ask(url, init);
          const copy = response.clone();
          const text = await response.text();
          heard = heardOf(response, text, performance.now() - start);
          return copy;
        },
      };
      const agentInterface = { url: urlOf(operation), protocolBinding: binding, protocolVersion: version };
      const transport: ClientTransport =
        binding === 'JSONRPC'
          ? new JsonRpcTransport({ agentInterface, codec, caller })
          : new HttpJsonTransport({ agentInterface, codec, caller });
      const call = {
        operation,
        request: { ...request, ...(tenant !== undefined && { tenant }) },
        extensions: [],
        headers: { ...headers, ...(user !== '' && { authorization: `Bearer ${user}` }) },
      } as TransportCall;
      const sent = isStreaming(operation)
        ? transport.stream(call as TransportCall<StreamingOperationName>)
        : transport.call(call as TransportCall<UnaryOperationName>);
      // Only the answer on the wire is compared, not the error of the client.
      await sent.catch(() => {});
      if (heard === undefined) throw new Error(`${name} sent no ${operation}`);
      return heard;
    },
  };
}

const VARYING: readonly string[] = ['date', 'x-request-id', 'x-response-time', 'traceparent'];

function heardOf({ status, headers: all }: Response, text: string, ms: number): Heard {
  const headers = [...all].filter(([name]) => !VARYING.includes(name));
  return { status, headers: Object.fromEntries(headers), text, ms };
}

/** The text of an answer with its ids and times replaced: each by the number of its first appearance. */
export function withoutIds({ status, headers, text }: Heard, ...ids: readonly string[]): object {
  const seen = new Map<string, string>();
  const known = text.replaceAll(ids[0] ?? '\0', 'THE-ID');
  const plain = known
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, (id) => {
      if (!seen.has(id)) seen.set(id, `id-${seen.size}`);
      return seen.get(id) as string;
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  return { status, headers, text: plain };
}
