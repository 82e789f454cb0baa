import type { LimitPorts } from '../../bindings/http/answer-call.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import type { ClientGroups } from '../../net/client-address.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { Logger } from '../../telemetry/logger.js';
import type { RequestMetrics } from '../../telemetry/request-metrics.js';
import type { RatedAgent, RefusalOf } from '../limits/rate-limits.js';
import { answerAlways } from './always-answered.js';
import { type AnswerHeaders, NOSNIFF, strictTransport, withHeaders } from './answer-headers.js';
import type { AuditOptions, AuditSetup } from './audited-exchange.js';
import { type Compression, withCompression } from './compression.js';
import { type CorsOptions, type CorsOrigins, sharedCorsHeaders } from './cors-options.js';
import { CredentialEnds } from './credential-ends.js';
import { type Forwarding, withForwardedCaching } from './forwarded-caching.js';
import { type AccessOf, gateExchange } from './gate.js';
import { forKnownHosts, type KnownHostsOptions } from './known-hosts.js';
import { type LoadRates, limitWhenLoaded } from './loaded-rates.js';
import { observeExchange } from './observed-exchange.js';
import { corsOnDemand, onDemand } from './on-demand.js';
import { type StartOptions, waitForStart } from './once-started.js';
import type { OpenStreams } from './open-streams.js';

/** The settings of a host for the middlewares around its exchanges. */
export interface RequestWayOptions {
  /** The host names of the host. Absent: all host names. */
  readonly knownHosts?: KnownHostsOptions | undefined;
  /** The rule by which proxies tell the base url, if they may. */
  readonly forwarding?: Forwarding | undefined;
  /** The streams of a host that has no server to end them. */
  readonly streams?: OpenStreams | undefined;
  /** Absent: no records of calls. */
  readonly audit?: AuditSetup | undefined;
  /** True if the log gets a line for each request. */
  readonly logRequests: boolean;
  /** True if answers forbid browsers to guess their type. */
  readonly nosniff?: boolean | undefined;
  /** The time for which browsers use only https. Absent: not said. */
  readonly hstsSeconds?: number | undefined;
  /** The origins whose pages may call. Absent: no other origin. */
  readonly cors?: CorsOrigins | CorsOptions | undefined;
  readonly compression?: Compression | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** The ports of a host that its middlewares use. */
interface RequestWayPorts {
  readonly metrics: RequestMetrics | undefined;
  readonly start: StartOptions;
  /** Loads the limits of rates. Absent: the host has none. */
  readonly loadRates?: LoadRates | undefined;
  /** The addresses that count as one client. */
  readonly groupOf?: ClientGroups | undefined;
  readonly limits?: LimitPorts;
}

/** The names of the middlewares of a host. */
export type MiddlewareName =
  | 'knownHosts'
  | 'forwardedCaching'
  | 'streams'
  | 'observation'
  | 'audit'
  | 'nosniff'
  | 'hsts'
  | 'cors'
  | 'endpoint'
  | 'addressRate'
  | 'gate'
  | 'principalRate'
  | 'compression'
  | 'answered'
  | 'start';

/** A named function around an exchange. */
export interface Middleware {
  readonly name: MiddlewareName;
  /** Wraps the exchange of a place. Absent: the host does not use it. */
  readonly around?: ((next: Exchange, place: WayPlace) => Exchange) | undefined;
  /** Headers for every answer. One middleware, `observation`, adds the headers of all of them in one step. */
  readonly headers?: AnswerHeaders | undefined;
}

/** An endpoint, or all mounts, on the way of a request. */
export interface WayOptions {
  /** Absent: all callers may use the place. */
  readonly accessOf?: AccessOf | undefined;
  /** The form of refusals. Default: that of errors outside of the bindings. */
  readonly refusalOf?: RefusalOf | undefined;
  /** The agent whose rate holds in the place of that of the host. Absent: the place is the host's own. */
  readonly agent?: RatedAgent | undefined;
  /** CORS and headers of its own, also for refusals. */
  readonly around?: ((next: Exchange) => Exchange) | undefined;
  /** The middlewares that do not apply to it. */
  readonly without?: readonly MiddlewareName[];
}

/** A place as its middlewares see it. */
interface WayPlace extends WayOptions {
  /** The headers of all middlewares that apply. */
  readonly headers: AnswerHeaders;
}

/**
 * The middlewares around every exchange of a host, the outermost first. This list is the only place that knows their
 * order.
 */
export function requestWay(
  options: RequestWayOptions,
  { metrics, start, loadRates, groupOf, limits = {} }: RequestWayPorts,
): readonly Middleware[] {
  const { knownHosts, forwarding, streams, audit, logRequests, cors, compression, logger, clock, ids } = options;
  const { nosniff, hstsSeconds } = options;
  const ends = new CredentialEnds(clock);
  const isObserved = metrics !== undefined || logRequests;
  const observers = { metrics, logger: logRequests ? logger : undefined, clock, ids };
  const observation = (next: Exchange, { accessOf, headers }: WayPlace) => {
    if (isObserved) return observeExchange(next, { ...observers, headers });
    const hasHeaders = accessOf !== undefined || loadRates !== undefined || Object.keys(headers).length > 0;
    return hasHeaders ? withHeaders(next, headers) : next;
  };
  return [
    // First: a page that rebinds its name to this machine reaches no other code.
    { name: 'knownHosts', around: knownHosts && ((next) => forKnownHosts(next, knownHosts)) },
    // Outside of everything that sets `cache-control` or `vary`.
    { name: 'forwardedCaching', around: forwarding && ((next) => withForwardedCaching(next, forwarding)) },
    // Outside of everything that replaces a body, so that it ends the stream that the client reads.
    { name: 'streams', around: streams && ((next) => streams.track(next)) },
    // Outside of every middleware that refuses or changes an answer: the log shows the status that the client gets.
    { name: 'observation', around: observation },
    // Inside of the ids of requests, and outside of every middleware that refuses a caller: a refusal is an act too.
    { name: 'audit', around: audit && ((next) => auditing(next, { ...audit, clock, ids, logger })) },
    { name: 'nosniff', headers: nosniff === true ? NOSNIFF : undefined },
    { name: 'hsts', headers: hstsSeconds === undefined ? undefined : strictTransport(hstsSeconds) },
    // Outside of every gate: a preflight request carries no credential, and a page reads refusals too.
    { name: 'cors', headers: cors && sharedCorsHeaders(cors), around: cors && ((next) => answeringPages(next, cors)) },
    // In the place of CORS, for an endpoint with CORS of its own.
    { name: 'endpoint', around: (next, { around }) => around?.(next) ?? next },
    // Outside of the gate: an address without requests left costs no hash and no signature.
    { name: 'addressRate', around: loadRates && limitWhenLoaded(loadRates, 'byAddress') },
    // Before the version, the route and the body are looked at: a caller without a credential learns nothing of them.
    {
      name: 'gate',
      around: (next, { accessOf }) =>
        accessOf ? gateExchange(next, { accessOf, groupOf, ends, limits, clock, logger }) : next,
    },
    // Inside of the gate, which knows the user.
    { name: 'principalRate', around: loadRates && limitWhenLoaded(loadRates, 'byPrincipal') },
    // Inside of CORS: the headers of CORS do not depend on the body.
    { name: 'compression', around: compression && ((next) => withCompression(next, compression)) },
    // Around all code that may reject.
    { name: 'answered', around: (next) => answerAlways(next, logger) },
    // Last: only what needs the agents waits for their start.
    { name: 'start', around: (next) => waitForStart(next, start) },
  ];
}

/** The exchange with CORS. With headers that all answers share, only preflight requests load its code. */
function answeringPages(next: Exchange, cors: CorsOrigins | CorsOptions): Exchange {
  const withCors = corsOnDemand(next, cors);
  if (sharedCorsHeaders(cors) === undefined) return withCors;
  return (request) => (request.method === 'OPTIONS' ? withCors(request) : next(request));
}

/** Only hosts with an audit log load its code. */
function auditing(next: Exchange, options: AuditOptions): Exchange {
  return onDemand(async () => (await import('./audited-exchange.js')).auditExchange(next, options));
}

/** An exchange inside of all these middlewares but the ones that it goes without. */
export function throughWay(way: readonly Middleware[], exchange: Exchange, options: WayOptions = {}): Exchange {
  const used = way.filter(({ name }) => options.without?.includes(name) !== true);
  const headers: AnswerHeaders = Object.assign({}, ...used.map((middleware) => middleware.headers));
  return used.reduceRight((next, { around }) => around?.(next, { ...options, headers }) ?? next, exchange);
}
