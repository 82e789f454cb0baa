import type { AgentCard, AgentExtension } from 'parley-a2a';
import {
  type AgentMount,
  type BoundInterface,
  codingHeaders,
  directWayFor,
  errorAnswer,
  errorDetails,
  essence,
  type HostExtension,
  type HostView,
  httpStatus,
  isFromOtherSite,
  KeyedPlaces,
  type Listed,
  listedInterfaces,
  type MiddlewareName,
  otherMethod,
  refusedCoding,
  TurnBudget,
  tellLimit,
  toA2AError,
  UnauthenticatedError,
  WaitingMemory,
} from 'parley-a2a/binding-kit';
import { LoadedOnDemand } from 'parley-a2a/kit';
import type { Exchange, ExchangeRequest, ExchangeResponse, LimitName } from 'parley-a2a/server';
import { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING, CAPNWEB_NAME } from '../binding/binding-uris.js';
import { type InBandCredential, joinCredential } from '../binding/in-band-credential.js';
import type { ServedSession } from '../binding/serve-session.js';
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from '../binding/session-limits.js';
import { acceptWebSocket } from '../sockets/ws-acceptor.js';

type SessionCode = typeof import('../binding/serve-session.js');

/** The settings of the binding. */
interface CapnwebExtensionOptions {
  readonly limits?: Partial<SessionLimits> | undefined;
  /** True if the path takes batches over POST, too. */
  readonly batch: boolean;
  /** The cards that list the interfaces. Absent: all cards list those of 1.0, and none those of 0.3. */
  readonly listed?: Listed | undefined;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
}

/** Middlewares that read or write a body, which a session does not have. */
const WITHOUT: readonly MiddlewareName[] = ['streams', 'forwardedCaching', 'compression'];
const VERSION = '1.0';
const OLD_VERSION = '0.3';
/** Time for the frames of all sessions per turn of the event loop, in ms. Then other callers are served. */
const TURN_MS = 10;
/** Time limit for the last events of feeds whose turns have ended, in ms. */
const LAST_EVENTS_MS = 1_000;
/** Time limit between the answer and the WebSocket, in ms. */
const UPGRADE_MS = 10_000;
const RETRY = { 'retry-after': '5' };
const BATCH_TYPE = 'application/x-ndjson';
const NO_UPGRADE = errorAnswer({
  status: 426,
  message: 'WebSockets are served here',
  // The only version (RFC 6455 §4.2.2).
  headers: { upgrade: 'websocket', 'sec-websocket-version': '13' },
});
const FOREIGN_PAGE = errorAnswer({
  status: 403,
  message: 'Pages of this origin may not call. The option cors allows it',
});
const DRAINING = errorAnswer({ status: 503, message: 'The server is shutting down', headers: RETRY });
const TOO_MANY = errorAnswer({ status: 429, message: 'Too many connections of this address are open', headers: RETRY });
const SIMPLE_TYPE = errorAnswer({ status: 415, message: `A batch has the content type ${BATCH_TYPE}` });
/** The content types that a page of another site may send without a CORS preflight (Fetch §2.2.2). */
const SIMPLE_TYPES: readonly string[] = ['', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** Cap'n Web sessions for all agents of a host, at a path of each mount. */
export function capnwebExtension(options: CapnwebExtensionOptions): HostExtension {
  const limits: SessionLimits = { ...DEFAULT_SESSION_LIMITS, ...options.limits };
  const sessions = new OpenSessions(limits);
  const hasBatches = (mount: AgentMount) => options.batch && isCurrent(mount);
  return {
    acceptWebSocket,
    endpoints: (host) => {
      const turn = new TurnBudget(host.clock, TURN_MS);
      return host.mounts.map((mount) => ({
        path: pathOf(mount),
        exchange: new Endpoint({ ...options, batch: hasBatches(mount), host, mount, limits, sessions, turn }).exchange,
        // Callers authenticate within the session.
        access: 'open',
        without: WITHOUT,
      }));
    },
    interfaces: (mount, base) => {
      const url = `${base}${pathOf(mount)}`;
      return interfacesOf(mount, { url, batch: hasBatches(mount), listed: options.listed });
    },
    cardExtensions: (mount) =>
      hasBatches(mount) && (options.listed ?? 'public') === 'public' ? [batchExtension(limits)] : [],
    stopAccepting: () => sessions.drain(),
    close: (graceMs) => sessions.end(graceMs),
  };
}

function pathOf({ paths }: AgentMount): string {
  return `${paths.own}/capnweb`;
}

function isCurrent(mount: AgentMount): boolean {
  return mount.versions.includes(VERSION);
}

interface SessionAddress {
  readonly url: string;
  /** True if the address takes batches, too. */
  readonly batch: boolean;
  readonly listed: Listed | undefined;
}

/**
 * Interfaces have http urls, because some clients refuse a whole card for a `ws` url. Clients of 0.3 use plain
 * arguments under another name. Many of those know three transports only, and refuse a card with a fourth.
 */
function interfacesOf(mount: AgentMount, { url, batch, listed }: SessionAddress): readonly BoundInterface[] {
  const current = { url, protocolVersion: VERSION, listed: listed ?? 'public' };
  const old = { url, protocolVersion: OLD_VERSION, listed: listed ?? 'never' };
  return [
    ...(isCurrent(mount) ? [{ ...current, protocolBinding: CAPNWEB_BINDING }] : []),
    ...(batch ? [{ ...current, protocolBinding: CAPNWEB_BATCH_BINDING }] : []),
    ...(mount.versions.includes(OLD_VERSION) ? [{ ...old, protocolBinding: CAPNWEB_NAME }] : []),
  ];
}

const OWN_BINDINGS = [CAPNWEB_BINDING, CAPNWEB_BATCH_BINDING, CAPNWEB_NAME];

/** The public card, with the interfaces of sessions even if they are not listed. */
function sessionCard(mount: AgentMount, base: string): AgentCard {
  const told = mount
    .interfaces(base)
    .map((one) => (OWN_BINDINGS.includes(one.protocolBinding) ? { ...one, listed: 'public' as const } : one));
  return { ...mount.card(base), supportedInterfaces: listedInterfaces(told, ['public']) };
}

/** Declares that batches do not stream, and their limits (Spec §5.8). */
function batchExtension({ batchFrames, batchMs }: SessionLimits): AgentExtension {
  return {
    uri: CAPNWEB_BATCH_BINDING,
    description: 'The interface with this binding takes batches of calls. It does not stream.',
    required: false,
    params: { streaming: false, frames: batchFrames, timeoutMs: batchMs },
  };
}

/** The open connections of a host, counted by address. */
class OpenSessions {
  readonly #places: KeyedPlaces;
  readonly #open = new Set<ServedSession>();
  readonly waiting: WaitingMemory;
  #allClosed: (() => void) | undefined;
  isDraining = false;

  constructor({ connectionsPerAddress, connections, waitingBytes }: SessionLimits) {
    this.waiting = new WaitingMemory(waitingBytes);
    this.#places = new KeyedPlaces({ perKey: connectionsPerAddress, total: connections });
  }

  /** Reserves a place, and returns the function that releases it; `undefined` if there is none. */
  place(address: string | undefined): (() => void) | undefined {
    if (this.#places.take(address) !== undefined) return undefined;
    return () => this.#places.give(address);
  }

  add(session: ServedSession): () => void {
    this.#open.add(session);
    if (this.isDraining) session.end(0);
    return () => {
      this.#open.delete(session);
      if (this.#open.size === 0) this.#allClosed?.();
    };
  }

  drain(): void {
    this.isDraining = true;
    for (const session of this.#open) session.drain();
  }

  /** Ends all connections, and resolves when they have ended. */
  async end(graceMs: number): Promise<void> {
    this.drain();
    for (const session of [...this.#open]) session.end(Math.min(graceMs, LAST_EVENTS_MS));
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
  }
}

interface EndpointOptions extends CapnwebExtensionOptions {
  readonly host: HostView;
  readonly mount: AgentMount;
  readonly sessions: OpenSessions;
  readonly limits: SessionLimits;
  readonly turn: TurnBudget;
}

/** The path of one agent: it accepts WebSockets, and batches over POST. */
class Endpoint {
  readonly #options: EndpointOptions;
  readonly #calls: Exchange;
  readonly #session: LoadedOnDemand<SessionCode>;

  constructor(options: EndpointOptions) {
    this.#options = options;
    const { host, mount } = options;
    const { authenticator } = mount.agent;
    // The session checks the version. The card has a name for each of them.
    this.#calls = directWayFor({ host, mount, binding: CAPNWEB_NAME, inCards: '', authenticator });
    this.#session = new LoadedOnDemand(() => import('../binding/serve-session.js'));
  }

  readonly exchange: Exchange = async (request) => {
    const { host, sessions, batch } = this.#options;
    const { method } = request;
    if (method === 'POST' && batch) return this.#batch(request);
    if (method !== 'GET')
      return otherMethod(method, { methods: batch ? ['GET', 'POST'] : ['GET'], message: 'WebSockets are served here' });
    if (request.header('upgrade')?.toLowerCase() !== 'websocket') return NO_UPGRADE;
    if (!(await this.#isAllowed(request))) return FOREIGN_PAGE;
    if (sessions.isDraining) return DRAINING;
    const code = await this.#session.get();
    const caller = this.#context(request).addressOf?.(request);
    const place = sessions.place(caller);
    if (place === undefined) {
      this.#limitReached(request, 'connections');
      return TOO_MANY;
    }
    let isTaken = false;
    // A host without WebSockets never calls `upgrade`, and the peer may disconnect before it.
    const giveUp = host.clock.after(UPGRADE_MS, () => {
      if (!isTaken) place();
      isTaken = true;
    });
    return {
      status: 101,
      headers: {},
      upgrade: (socket) => {
        giveUp();
        if (isTaken) return socket.terminate();
        isTaken = true;
        const session: ServedSession = code.serveSession({
          ...this.#sessionOptions(request),
          socket,
          memory: this.#context(request).bodies,
          waiting: sessions.waiting,
          caller,
          turn: this.#options.turn,
          random: this.#options.random(),
          onClose: () => {
            place();
            forget?.();
          },
        });
        const forget: (() => void) | undefined = sessions.add(session);
      },
    };
  };

  async #batch(request: ExchangeRequest): Promise<ExchangeResponse> {
    const { sessions, limits } = this.#options;
    if (SIMPLE_TYPES.includes(essence(request.header('content-type')))) return SIMPLE_TYPE;
    if (sessions.isDraining) return DRAINING;
    const { serveBatch } = await this.#session.get();
    const options = this.#sessionOptions(request);
    const { bodies } = this.#context(request);
    try {
      const refused = refusedCoding(request);
      if (refused !== undefined) throw refused;
      const body = await request.body(options.requests.bodyBytes, bodies?.meter(request));
      const text = await serveBatch(new TextDecoder().decode(body), options);
      return { status: 200, headers: { 'content-type': BATCH_TYPE }, body: text };
    } catch (thrown) {
      const error = toA2AError(thrown, options.logger, { operation: 'batch', limits: limits.batchFrames });
      tellLimit(error, this.#context(request), request);
      const details = errorDetails(error, error.code);
      return errorAnswer({
        status: httpStatus(error),
        message: error.message,
        details,
        headers: codingHeaders(error),
      });
    } finally {
      bodies?.release(request);
    }
  }

  #sessionOptions(request: ExchangeRequest) {
    const { host, mount, limits } = this.#options;
    const { limits: requests } = this.#context(request);
    const base = host.baseUrl(request);
    const schemes = () => mount.card(base).securitySchemes;
    return {
      exchange: this.#calls,
      upgrade: request,
      card: () => sessionCard(mount, base),
      isCurrent: isCurrent(mount),
      present: (credential: InBandCredential) => {
        const place = joinCredential(credential, schemes());
        if (place === undefined) {
          const message = 'The credential fits no security scheme of the agent card';
          throw new UnauthenticatedError(mount.agent.authenticator?.challenges ?? [], message);
        }
        return place;
      },
      limits,
      requests,
      clock: host.clock,
      logger: host.logger,
      limitReached: (limit: LimitName) => this.#limitReached(request, limit),
    };
  }

  #limitReached(request: ExchangeRequest, limit: LimitName): void {
    const { addressOf, limitReached } = this.#context(request);
    const caller = addressOf?.(request);
    limitReached?.({ limit, caller, requestId: request.requestId });
  }

  #context(request: ExchangeRequest) {
    return this.#options.mount.bindingContext(this.#options.host.baseUrl(request));
  }

  /** Checks the origin of a page, because browsers apply no CORS to WebSockets. */
  async #isAllowed(request: ExchangeRequest): Promise<boolean> {
    const origin = request.header('origin');
    if (origin === undefined) return true;
    const { host } = this.#options;
    if (origin === originOf(host.baseUrl(request))) return true;
    if (isFromOtherSite((name) => request.header(name)) === false) return true;
    return host.allowsOrigin(origin);
  }
}

function originOf(base: string): string | undefined {
  return URL.parse(base)?.origin;
}
