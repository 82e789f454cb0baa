import type { Authenticator } from '../auth/authenticator.js';
import type { Exchange, ExchangeRequest } from '../bindings/http/exchange.js';
import type { WebSocketUpgrade } from '../bindings/http/socket-port.js';
import type { ClientCallContext } from '../client/call-options.js';
import type { FileStore } from '../files/file-store.js';
import type { AgentExtension } from '../model/agent-card.js';
import type { BoundInterface } from '../model/bound-interface.js';
import type { Interceptor } from '../operations/interceptor.js';
import type { NotificationChange } from '../push/notifications.js';
import type { RecordedAct } from '../push/served-deliveries.js';
import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import type { AgentExecutor } from '../server/agent-executor.js';
import type { RequestHandler } from '../server/request-handler.js';
import type { TurnPorts } from '../server/turn-ports.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { AuditLog } from '../telemetry/audit-log.js';
import type { Logger } from '../telemetry/logger.js';
import type { Meter } from '../telemetry/meter.js';
import type { CacheFigures, ProcessFigures } from '../telemetry/server-figures.js';
import type { AgentMount } from './agent-mount.js';
import type { Forwarding } from './middleware/forwarded-caching.js';
import type { Access } from './middleware/gate.js';
import type { MiddlewareName, WayOptions } from './middleware/request-way.js';
import type { Readiness, ReadinessCheck } from './observability/readiness.js';
import type { Describe } from './openapi/server-document.js';
import type { TlsOptions } from './options/tls-options.js';

/** Endpoints of a host beside its agents: probes, documents, the base server. */
export interface HostExtension {
  /** Readiness checks beside those of the agents and the storage. */
  readonly checks?: readonly ReadinessCheck[];
  /** Hits and misses of its cache, for the figures of the host. */
  readonly cacheFigures?: () => CacheFigures;
  /** Its endpoints. The host calls this once, when its agents are mounted. */
  endpoints(host: HostView): readonly HostEndpoint[];
  /** Its endpoints for an OpenAPI document, loaded on demand. Absent: the document leaves them out. */
  describe?(host: HostView): Promise<Describe>;
  /**
   * Its interfaces of a mounted agent under a base url, and the cards that list them. Absent: it has no binding of its
   * own.
   */
  interfaces?(mount: AgentMount, base: string): readonly BoundInterface[];
  /** Entries that tell in the card which limits these interfaces have. Absent: none. */
  cardExtensions?(mount: AgentMount, base: string): readonly AgentExtension[];
  /** Services for the agents of the host. They may run once `endpoints` was called. Absent: none. */
  readonly turnPorts?: TurnPorts;
  /** A function around each call of another agent by the agents of the host. Absent: none. */
  readonly callInterceptor?: Interceptor<ClientCallContext>;
  /** Functions around an agent. Absent: it leaves all of them as they are. */
  aroundAgent?(agent: AgentPlace): AroundAgent | undefined;
  /** Gets the figures of the host, beside those of its option `metrics`. Absent: it gets none. */
  readonly meter?: Meter;
  /** The files of users, for exports and erasures. Absent: it keeps none. */
  readonly fileStore?: FileStore;
  /**
   * Answers the handshake of a WebSocket on a server of node:http, for its endpoints that take over connections.
   * Resolves to whether the WebSocket is open. If not, the server answers. Absent: such a server opens no WebSockets.
   */
  readonly acceptWebSocket?: (upgrade: WebSocketUpgrade) => Promise<boolean>;
  /** True if an endpoint reads bodies as they arrive, and bounds their time itself. */
  readonly takesLongBodies?: boolean;
  /** Takes the HTTP/2 connections of a server of node:http: each as its socket. Absent: they are refused. */
  readonly takeHttp2?: ((socket: object) => void) | undefined;
  /** Its page in the place of the list of agents at `GET /`. Absent: none. */
  readonly front?: FrontPage;
  /** Opens a socket of its own, before the server of the host accepts connections. */
  listen?(address: ListenAddress): Promise<void>;
  /** Accepts no more calls on its own connections. Running calls go on. */
  stopAccepting?(): void;
  /** Ends its own connections within the grace, after the turns have ended. */
  close?(graceMs: number): Promise<void>;
}

/** An endpoint that also answers some requests to `/`. */
export interface FrontPage {
  /** The path of the endpoint. */
  readonly path: string;
  /** True if it answers a request to `/`. */
  readonly takes: (request: ExchangeRequest) => boolean;
}

/** An agent of a host. */
export interface AgentPlace {
  /** The first path that it is served under. */
  readonly path: string;
  /** The id of its task space. */
  readonly id: string;
  /** Its name and its version, as in its card. */
  readonly name: string;
  readonly version: string;
  /** False if a handler of the application answers its calls. */
  readonly hasEngine: boolean;
}

/** Functions of an extension around an agent, inside of the interceptors of the application. */
export interface AroundAgent {
  /** The handler with a function around its calls. */
  handler(handler: RequestHandler): RequestHandler;
  /** The executor with a function around its turns. An agent without an engine has none. */
  executor(executor: AgentExecutor, logger: Logger): AgentExecutor;
  /** Changes what the push notifications of the agent tell. Absent: they tell what is stored. */
  readonly notifications?: NotificationChange | undefined;
}

/** The address of the server of a host. */
export interface ListenAddress {
  readonly host: string;
  /** 0 for a free port. */
  readonly port: number;
  /** Absent: no TLS. */
  readonly tls?: TlsOptions | undefined;
  /** True if agents that need no credential may be served beyond loopback. */
  readonly allowAnonymous?: boolean;
}

/** One path of an extension. */
export interface HostEndpoint {
  readonly path: string;
  /** The endpoint also has the paths one segment below it, if this matches the segment. Absent: its path alone. */
  readonly items?: RegExp;
  readonly exchange: Exchange;
  /** The rule for its callers; `open` if all may use it. Default: the rule of the host for its own endpoints. */
  readonly access?: Access | 'open' | undefined;
  /** The form of refusals. Default: that of its access, or of errors outside of the bindings. */
  readonly refuse?: Access['refuse'] | undefined;
  /** CORS and headers of its own, also for refusals. */
  readonly around?: (next: Exchange) => Exchange;
  /** The middlewares of the host that do not apply to it. */
  readonly without: readonly MiddlewareName[];
}

/** The parts of a host that extensions use. */
export interface HostView {
  readonly mounts: readonly AgentMount[];
  /** The base url to tell a client, or "" while there is none. */
  readonly baseUrl: (request?: ExchangeRequest) => string;
  readonly readiness: Pick<Readiness, 'report'>;
  /** Answers `/metrics`; absent if the host measures nothing or shows no figures. */
  readonly metrics: Exchange | undefined;
  /** The rule for readers of `/metrics`; absent if it is that of the host. */
  readonly metricsAccess: Access | undefined;
  /** An exchange inside of the middlewares of the host. */
  readonly through: (exchange: Exchange, place: WayOptions) => Exchange;
  /** The same exchange once the agents have started. */
  readonly onceStarted: (exchange: Exchange) => Exchange;
  readonly extensions: readonly HostExtension[];
  /** True if the host or one of its extensions serves a path of its own there. */
  readonly serves: (path: string) => boolean;
  /** The authenticators of an endpoint of the host: any one is enough. Empty: all callers may use it. */
  readonly authenticatorsAt: (path: string) => readonly Authenticator[];
  readonly storage: TaskStorage;
  /** Keeps records of acts of the operator. Absent: the host has no audit log. */
  readonly recorded: RecordedAct | undefined;
  /** The audit log. Absent: the host has none. */
  readonly auditLog: AuditLog | undefined;
  readonly forwarding: Forwarding | undefined;
  readonly isCompressed: boolean;
  /** True if pages of an origin may call, by the CORS rule of the host. */
  readonly allowsOrigin: (origin: string) => boolean | Promise<boolean>;
  readonly process: ProcessFigures | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
}

/** The middlewares that do not apply to probes and figures: programs read them all the time, also before the start. */
export const WITHOUT_FOR_PROBES: readonly MiddlewareName[] = [
  'observation',
  'nosniff',
  'cors',
  'addressRate',
  'principalRate',
  'compression',
  'start',
];
