import type { AgentCard, AgentInterface, ConnectOptions } from 'parley-a2a';
import {
  isLoopback,
  openWebSocket,
  parseIp,
  RESUME_ATTEMPTS,
  RefusedAddressError,
  systemLookup,
  type WebSocketLike,
} from 'parley-a2a/binding-kit';
import { type ClientBinding, connect, type TransportLimits } from 'parley-a2a/client';
import {
  A2AError,
  ConnectionError,
  callerClock,
  checkOptions,
  flag,
  func,
  OptionsError,
  optionObject,
  silentLogger,
  systemClock,
  Type,
} from 'parley-a2a/kit';
import { CAPNWEB_BINDING } from './binding/binding-uris.js';
import { CapnwebAgent } from './binding/capability-client.js';
import type { ClientSocket } from './binding/client-socket.js';
import { isPublicIp, wsClients } from './sockets/ws-client-socket.js';

/** Options of `capnwebTransport`. All have defaults. */
export interface CapnwebTransportOptions {
  /**
   * True: addresses of `ws` and `http` are called beyond loopback. Credentials are then sent unencrypted, so use it
   * only inside of a protected network. Default: only `wss` and `https` are called there.
   */
  readonly plaintext?: boolean;
  /** Longest time to connect, in ms. Default 10,000. */
  readonly connectMs?: number;
  /** Longest wait for an answer, in ms. Default 300,000. */
  readonly answerMs?: number;
  /** Time between pings, in ms. Two pings without an answer end a session. Default 25,000. */
  readonly pingMs?: number;
  /** Time without calls and streams after which a session is closed, in ms. Default 30,000. */
  readonly idleMs?: number;
  /**
   * Opens sockets instead of the platform, with the address of the agent. Default: the package `ws` on Node.js, else
   * the `WebSocket` of the platform.
   */
  readonly webSocket?: (address: string) => WebSocketLike;
}

const VERSION = '1.0';
const TIMES = { connectMs: 10_000, answerMs: 300_000, pingMs: 25_000, idleMs: 30_000 };

const ms = Type.Optional(Type.Number());
const transportSchema = optionObject({
  plaintext: Type.Optional(flag),
  webSocket: Type.Optional(func),
  ...{ connectMs: ms, answerMs: ms, pingMs: ms, idleMs: ms },
});

/**
 * Cap'n Web for clients: `connect(url, { bindings: [capnwebTransport()] })`. The first call loads its code. A client
 * opens one WebSocket for each credential, and closes it when it is idle.
 * @throws OptionsError naming every option at fault.
 */
export function capnwebTransport(options: CapnwebTransportOptions = {}): ClientBinding {
  checkOptions({ subject: 'capnwebTransport', schema: transportSchema, options });
  const { plaintext = false, webSocket, ...times } = options;
  const settings = { ...TIMES, ...times };
  const problems = Object.entries(settings)
    .filter(([, ms]) => !Number.isInteger(ms) || ms < 1)
    .map(([name]) => `${name} must be a whole number of at least 1`);
  if (problems.length > 0) throw new OptionsError('capnwebTransport', problems);
  return {
    speaks: ({ protocolBinding, protocolVersion, url }) =>
      protocolBinding === CAPNWEB_BINDING && protocolVersion === VERSION && isCallable(url, plaintext),
    transport: async (agentInterface, limits) => {
      const { CapnwebClientTransport } = await import('./binding/capnweb-client-transport.js');
      return new CapnwebClientTransport({
        agentInterface,
        schemes: limits.securitySchemes,
        connect: (signal) => openSocket(agentInterface, { limits, webSocket, signal }),
        clock: systemClock,
        turn: limits.turn,
        settings: { ...settings, frameBytes: limits.answerBytes, frameItems: limits.answerItems },
      });
    },
  };
}

function isCallable(address: string, plaintext: boolean): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  const isPlain = url.protocol === 'ws:' || url.protocol === 'http:';
  return url.protocol === 'wss:' || url.protocol === 'https:' || (isPlain && (plaintext || isLoopback(hostOf(url))));
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

interface SocketRequest {
  readonly webSocket: CapnwebTransportOptions['webSocket'];
  readonly limits: TransportLimits;
  readonly signal: AbortSignal;
}

/** Opens a socket. Untrusted addresses must be public, as for other bindings. */
async function openSocket(place: AgentInterface, { limits, webSocket, signal }: SocketRequest): Promise<ClientSocket> {
  // Cards have urls of http or of ws. Older platforms accept only the latter for WebSockets.
  const url = place.url.replace(/^http/i, 'ws');
  if (webSocket !== undefined) return openWebSocket(makeSocket(webSocket, url), signal);
  const isPublicOnly = systemLookup() !== undefined && !limits.isTrusted(url) && !(await limits.isInside());
  const host = hostOf(new URL(url));
  const open = wsClients({ clock: systemClock, logger: silentLogger });
  const isName = parseIp(host) === undefined;
  if (isPublicOnly && (isName ? open === undefined : !isPublicIp(host))) throw refusal(url, isName);
  if (open !== undefined) {
    return open(url, { isPublicOnly, messageBytes: limits.answerBytes, signal }).catch((error: unknown) => {
      throw error instanceof Error && error.cause instanceof RefusedAddressError ? refusal(url, false) : error;
    });
  }
  return openWebSocket(
    makeSocket((address) => new WebSocket(address), url),
    signal,
  );
}

function makeSocket(webSocket: (address: string) => WebSocketLike, address: string): WebSocketLike {
  try {
    return webSocket(address);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConnectionError(`No WebSocket could be opened: ${reason}`, { sent: false, cause });
  }
}

function refusal(url: string, isUnchecked: boolean): A2AError {
  const place = new URL(url).host;
  const reason = isUnchecked
    ? 'its address can be checked only with the package ws. Install it'
    : 'its address is not public, and the caller did not name it. See trustedOrigins';
  return new A2AError('INVALID_AGENT_RESPONSE', `${place} is not called: ${reason}`);
}

/** Options of `connectCapnweb`. */
export interface ConnectCapnwebOptions extends Omit<ConnectOptions, 'binding' | 'bindings' | 'version'> {
  readonly transport?: CapnwebTransportOptions;
}

/**
 * Connects to an agent over Cap'n Web, for its objects: tasks, watches, files as streams. The first call opens the
 * connection.
 * @throws as `connect` does. UNSUPPORTED_OPERATION if the agent has no interface of Cap'n Web.
 */
export async function connectCapnweb(
  agent: string | AgentCard,
  { transport, ...options }: ConnectCapnwebOptions = {},
): Promise<CapnwebAgent> {
  const bindings = [capnwebTransport(transport)];
  const client = await connect(agent, { ...options, binding: CAPNWEB_BINDING, bindings });
  const { answerBytes = 64 * 1024 * 1024, resume: { attempts = RESUME_ATTEMPTS } = {} } = options;
  return new CapnwebAgent(client, { clock: callerClock, random: Math.random, answerBytes, attempts });
}
