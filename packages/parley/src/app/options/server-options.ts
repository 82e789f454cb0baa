import { OptionsError } from '../../errors/options-error.js';
import { isLoopback } from '../../net/loopback.js';
import { flag, type OptionSchemas, optionObject, positive } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { type BaseServerOptions, baseServerSchema } from '../base-server/base-server-options.js';
import { type HostOptions, hostSchemas } from './host-options.js';
import { type TlsOptions, tlsSchema } from './tls-options.js';

/** Times of an HTTP server, in ms. */
export interface HttpServerTimes {
  /** Time after which a peer that reads nothing of its answer is disconnected. Default 30 s. */
  readonly stallMs?: number;
  /** Idle time of a connection between two requests, longer than most proxies keep it. Default 65 s. */
  readonly keepAliveMs?: number;
  /**
   * Time from the connection, or the previous request, to the whole head of a request, with TLS; then 408. Silent
   * connections end without it. Default 15 s.
   */
  readonly headersMs?: number;
  /** Time in which a whole request must arrive; then 408. Default 2 min. */
  readonly requestMs?: number;
}

/** The default times of an HTTP server. */
export const DEFAULT_HTTP_TIMES: Required<HttpServerTimes> = {
  stallMs: 30_000,
  keepAliveMs: 65_000,
  headersMs: 15_000,
  requestMs: 120_000,
};

/** The options of a server with a socket of its own. */
export interface ServerOptions extends HostOptions {
  /**
   * True if the server serves its description, at `/openapi.json`, `/openapi-3.0.json` and the page `/docs`.
   * @defaultValue `false`
   * @see docs/openapi.md
   */
  readonly openapi?: boolean;
  /**
   * True if agents that need no credential may be served beyond loopback. Otherwise such a server refuses to listen
   * there. The variable is `A2A_ALLOW_ANONYMOUS`.
   * @defaultValue `false`
   * @see docs/authentication.md#beyond-loopback
   */
  readonly allowAnonymous?: boolean;
  /**
   * The times of the HTTP server.
   * @defaultValue each has its own
   * @see docs/configuration.md#connections
   */
  readonly http?: HttpServerTimes;
  /**
   * Certificate and key of the server: `cert` and `key`, also `passphrase`, `ca`, `requestCert`, `minVersion`,
   * `hstsSeconds`, `reloadMs`.
   * @defaultValue none: plain HTTP, for loopback and behind a proxy that ends TLS
   * @see docs/authentication.md#certificates-of-clients
   */
  readonly tls?: TlsOptions;
  /**
   * The base-server interface around one of the agents, for clients of base servers: `agent`, `cache`,
   * `cacheTtlSeconds`, `cors`, `cacheChanges`.
   * @defaultValue not served
   * @see docs/base-server.md
   */
  readonly baseServer?: BaseServerOptions;
  /**
   * The effect of an error that no code catches, such as in a timer of an agent. It ends the `task` of the agent, or
   * the `process`, as Node.js does by itself.
   * @defaultValue `task`
   * @see docs/agents.md#uncaught-errors
   */
  readonly uncaughtErrors?: 'task' | 'process';
}

const ms = Type.Optional(positive);
const times: OptionSchemas<HttpServerTimes> = { stallMs: ms, keepAliveMs: ms, headersMs: ms, requestMs: ms };

/** The schemas of ServerOptions. */
export const serverSchemas: OptionSchemas<ServerOptions> = {
  ...hostSchemas,
  openapi: Type.Optional(flag),
  allowAnonymous: Type.Optional(flag),
  baseServer: Type.Optional(baseServerSchema),
  uncaughtErrors: Type.Optional(Type.String({ enum: ['task', 'process'] })),
  http: Type.Optional(optionObject(times)),
  tls: Type.Optional(tlsSchema),
};

/** An address, and the agents that it would show. */
interface Exposure {
  readonly host: string;
  /** The paths of agents that need no credential. */
  readonly openPaths: readonly string[];
  readonly allowAnonymous: boolean;
}

/**
 * Refuses addresses beyond loopback for agents that need no credential, unless the options allow it. Returns the
 * warning if they do.
 * @throws OptionsError naming the paths of these agents.
 */
export function checkExposure({ host, openPaths, allowAnonymous }: Exposure): string | undefined {
  if (isLoopback(host) || openPaths.length === 0) return undefined;
  const agents = `the agent${openPaths.length === 1 ? '' : 's'} at ${openPaths.join(', ')}`;
  const exposed = `on ${host} anybody could call ${agents} without authentication`;
  if (allowAnonymous) return `${exposed}, because allowAnonymous is set`;
  const remedy = 'set an authenticator, or allowAnonymous (A2A_ALLOW_ANONYMOUS=true) if that is meant';
  throw new OptionsError('Not listening', [`${exposed}; ${remedy}`]);
}
