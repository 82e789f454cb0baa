import type { SignatureOptions } from '../agent-card/signatures/signature-trust.js';
import type { VerifierRuntime } from '../agent-card/signatures/signature-verifier.js';
import type { CredentialProvider } from '../auth/credential-provider.js';
import { documentSource } from '../bindings/http/document-source.js';
import type { Fetch, HttpCaller } from '../bindings/http/http-caller.js';
import { HttpJsonTransport, type HttpJsonTransportOptions } from '../bindings/http-json/http-json-transport.js';
import { IN_PROCESS, type InProcessAgent } from '../bindings/in-process/in-process-agent.js';
import { JsonRpcTransport, type JsonRpcTransportOptions } from '../bindings/jsonrpc/jsonrpc-transport.js';
import { AgentCardResolver, namedAgent, type ResolvedCard } from '../client/agent-card-resolver.js';
import { AgentConnection } from '../client/agent-connection.js';
import { CachedDocuments } from '../client/cached-documents.js';
import { callDeadline } from '../client/call-deadline.js';
import type { CallDefaults, ClientCallContext } from '../client/call-options.js';
import { type CardCache, memoryCardCache } from '../client/card-cache.js';
import { Client } from '../client/client.js';
import type { ClientRuntime } from '../client/client-runtime.js';
import type { ClientBinding, ClientTransport, TransportSource } from '../client/client-transport.js';
import type { ConnectionEvent } from '../client/connection-event.js';
import { CredentialGuard, originOf } from '../client/credential-guard.js';
import { webUrl } from '../client/document-source.js';
import { type InterfaceWishes, selectInterfaces } from '../client/interface-selection.js';
import { OperationCalls } from '../client/operation-calls.js';
import type { RetryOptions } from '../client/send-retries.js';
import type { ResumeOptions } from '../client/task-stream.js';
import type { VerifiedCards } from '../client/verified-cards.js';
import type { ClientCodec } from '../codec/client-codec.js';
import { CLIENT_VERSIONS, decodeAgentCard } from '../codec/client-codecs.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import type { Interceptor } from '../operations/interceptor.js';
import { isLegacy } from '../operations/versions.js';
import { TurnBudget } from '../runtime/turn-budget.js';
import { type Logger, silentLogger } from '../telemetry/logger.js';
import { callerClock, callerIds, systemClock } from './runtime.js';
import { fetchTrusting } from './trusting-fetch.js';

export { IDEMPOTENT_SEND_EXTENSION, STREAM_RESUME_EXTENSION } from '../agent-card/offered-extensions.js';
export type {
  NamedKey,
  PublicJwk,
  SignatureOptions,
  SignatureVerdict,
  VerificationKey,
} from '../agent-card/signatures/signature-trust.js';
export type { CredentialProvider } from '../auth/credential-provider.js';
export type { Fetch } from '../bindings/http/http-caller.js';
export type { InProcessAgent } from '../bindings/in-process/in-process-agent.js';
export type { CallOptions, ClientCallContext } from '../client/call-options.js';
export { type CachedDocument, type CardCache, memoryCardCache } from '../client/card-cache.js';
export { Client } from '../client/client.js';
export type { ClientBinding, ClientTransport, TransportLimits } from '../client/client-transport.js';
export type { ConnectionEvent } from '../client/connection-event.js';
export type { OutgoingMessage, SendInput } from '../client/outgoing-message.js';
export type { RetryOptions } from '../client/send-retries.js';
export { type ResumeOptions, TaskStream } from '../client/task-stream.js';
export type { WaitOptions } from '../client/task-waiting.js';
export { joinParts, textOf } from '../client/text-of.js';
export { A2AError, type ErrorCode, type ErrorDetails } from '../errors/a2a-error.js';
export { AgentCardError, type AgentCardFault } from '../errors/agent-card-error.js';
export { ConnectionError } from '../errors/connection-error.js';
export { UnauthenticatedError } from '../errors/standard-errors.js';
export type { AgentCard, AgentInterface } from '../model/agent-card.js';
export type { CallOutcome, InterceptedCall, Interceptor } from '../operations/interceptor.js';
export { traceIdOf } from '../task/attempt-trace.js';
export { type TaskUsage, type TokenSums, USAGE_EXTENSION, usageIn } from '../task/token-usage.js';
export type { Logger } from '../telemetry/logger.js';
export * from './file-transfers.js';

/** Options of a client. All have defaults. */
export interface ConnectOptions extends InterfaceWishes, CallDefaults {
  /** Credentials from `parley-a2a/credentials`. Default: anonymous. */
  readonly credentials?: CredentialProvider;
  /**
   * Origins that the caller trusts like that of the url given to `connect`. They may get the credentials and be
   * private. On Node.js, other origins that a card, a catalog or a redirect names must be public, unless the agent
   * itself is private.
   */
  readonly trustedOrigins?: readonly string[];
  /** The tenant of all calls, instead of the one that the card names. */
  readonly tenant?: string;
  readonly retry?: RetryOptions;
  readonly resume?: ResumeOptions;
  /**
   * Called when the connection of a stream, a message or a wait is lost and when it is restored. An error that it
   * throws ends the call.
   */
  readonly onConnection?: (event: ConnectionEvent) => void;
  readonly interceptors?: readonly Interceptor<ClientCallContext>[];
  /** Cache of cards. Default: in memory, for all clients of the process. Each `fetch` has entries of its own. */
  readonly cardCache?: CardCache;
  /**
   * Headers of requests for the card, for protected cards. They are sent only to the origin of the url given to
   * `connect`. If a catalog there names a card on another origin, that request does not have them. Such cards are not
   * cached.
   */
  readonly cardHeaders?: Readonly<Record<string, string>>;
  /**
   * Requires a signature by a trusted key on the card and the extended card. Unsigned members are left out.
   * Absent: signatures are not verified.
   */
  readonly signatures?: SignatureOptions;
  readonly logger?: Logger;
  /** The longest answer that is read, in bytes; default 64 MiB. */
  readonly answerBytes?: number;
  /** The longest event of a stream, with the comments before it, in characters; default 16 Mi. */
  readonly eventBytes?: number;
  /** The most members and elements of the JSON of an answer or an event; default 1,000,000. */
  readonly answerItems?: number;
  /** Further bindings, such as `grpcTransport()` of `parley-a2a-grpc`. Default: no others. */
  readonly bindings?: readonly ClientBinding[];
  /** Sends all requests, also those to other origins. Default: the `fetch` of the platform. */
  readonly fetch?: Fetch;
  /** Ends the search for the card. */
  readonly signal?: AbortSignal;
  /** Ends the search for the card after this time, in ms; default 30,000. */
  readonly timeoutMs?: number;
}

/** An option for server objects of several agents. */
export interface InProcessPath {
  /** The path of the agent on its server. Default: the only agent. */
  readonly path?: string;
}

const sharedCards = memoryCardCache();
/**
 * Shared by all streams of the process: with a budget for each, one stream could delay the others for its whole time.
 */
const streamTurn = new TurnBudget(callerClock, 10);
const sharedKeySets: VerifierRuntime['cache'] = new Map();
const CARD_TIMEOUT_MS = 30_000;
const ignore = (): void => {};

/** The default of options, which needs no check, so that its code is not loaded. */
const NO_OPTIONS = {};

/**
 * Creates a client for an agent: by base url, url of a card, entry of a catalog, or card. A server object stands for an
 * agent of the same process. Fetches only the card, and the first operation calls the agent. If the card lists no
 * interface that fits, the client asks for the extended card, which may list more.
 * @throws AgentCardError if no card is found, or if it is not signed as `signatures` requires.
 * @throws A2AError UNSUPPORTED_OPERATION if the agent has no known interface.
 * @throws OptionsError if a server object has no agent at `path`, or if an option is a promise.
 */
export async function connect(
  agent: string | AgentCard | InProcessAgent,
  options: ConnectOptions & InProcessPath = NO_OPTIONS,
): Promise<Client> {
  if (URL.parse === undefined || agent instanceof Promise || options !== NO_OPTIONS)
    (await import('./connect-options.js')).checkConnect(agent, options);
  const named = await namedAgent(agent);
  if (typeof named === 'object' && IN_PROCESS in named) {
    const { card, binding } = await named[IN_PROCESS]({ path: options.path });
    // The card of a server object needs no signature, because it was not sent over a network.
    const { signatures: _, ...rest } = options;
    return connectTo(card, { ...rest, bindings: [binding] });
  }
  return await connectTo(named, options);
}

async function connectTo(agent: string | AgentCard, options: ConnectOptions): Promise<Client> {
  const { logger = silentLogger, onConnection = ignore } = options;
  const runtime: ClientRuntime = {
    clock: callerClock,
    idleClock: systemClock,
    ids: callerIds,
    random: Math.random,
    logger,
    onConnection,
  };
  const caller = callerOf(options, trustedUrls(agent, options));
  const verified = await verifiedCards(options, caller);
  const { card, url, endpoint } = await resolve(agent, { options, caller, decode: decodeAgentCard, verified });
  const offered = { ...card, supportedInterfaces: [...(endpoint ? [endpoint] : []), ...card.supportedInterfaces] };
  const select = (from: AgentCard, wishes: InterfaceWishes) =>
    selectInterfaces(from, wishes, (one) => isKnown(one) || bindingOf(one, options) !== undefined);
  const place = { agent, url, options, runtime, caller, verified };
  const client = (card: AgentCard, interfaces: readonly AgentInterface[]) => clientOf({ ...place, card, interfaces });
  const interfaces = select(offered, options);
  if (interfaces.length > 0) return client(card, interfaces);
  const { fittingClient } = await import('../client/missing-interface.js');
  return await fittingClient({ card: offered, wishes: options, select, client });
}

/** Options for finding a card. */
export interface FetchCardOptions
  extends Pick<
    ConnectOptions,
    | 'cardCache'
    | 'cardHeaders'
    | 'trustedOrigins'
    | 'signatures'
    | 'answerBytes'
    | 'answerItems'
    | 'fetch'
    | 'signal'
    | 'timeoutMs'
  > {
  /** Called with the published card before it is decoded. An error that it throws ends the search. */
  readonly onDocument?: (document: unknown) => void;
}

/**
 * The card of an agent, even if it offers no interface that this client can call.
 * @throws AgentCardError if no card is found, or if it is not signed as `signatures` requires.
 */
export async function fetchAgentCard(
  given: string | AgentCard,
  options: FetchCardOptions = NO_OPTIONS,
): Promise<AgentCard> {
  if (options !== NO_OPTIONS) (await import('./connect-options.js')).checkFetchCardOptions(options);
  const agent = await namedAgent(given);
  const decode = (document: unknown) => {
    options.onDocument?.(document);
    return decodeAgentCard(document);
  };
  const caller = callerOf(options, trustedUrls(agent, options));
  const verified = await verifiedCards(options, caller);
  return (await resolve(agent, { options, caller, decode, verified })).card;
}

interface CardSearch {
  readonly options: FetchCardOptions;
  readonly caller: HttpCaller;
  readonly decode: (document: unknown) => Promise<AgentCard>;
  readonly verified: VerifiedCards | undefined;
}

async function resolve(
  agent: string | AgentCard,
  { options, caller, decode, verified }: CardSearch,
): Promise<ResolvedCard> {
  const documents = new CachedDocuments({
    source: documentSource(caller),
    cache: await cardCacheOf(options),
    clock: callerClock,
    headers: options.cardHeaders ?? {},
  });
  const resolver = new AgentCardResolver({ documents, decode });
  const deadline = callDeadline(callerClock, {
    signal: options.signal,
    timeoutMs: options.timeoutMs ?? CARD_TIMEOUT_MS,
  });
  const { signal } = deadline;
  try {
    const found = await resolver.resolve(agent, signal);
    if (verified === undefined) return found;
    return { ...found, card: await verified.card({ ...found, signal }) };
  } finally {
    deadline.release();
  }
}

async function cardCacheOf({ cardCache = sharedCards, fetch }: FetchCardOptions): Promise<CardCache> {
  if (fetch === undefined) return cardCache;
  return (await import('../client/fetch-cache.js')).cacheOfFetch(cardCache, fetch, callerIds);
}

/** Undefined without `signatures`: then the code that verifies is not loaded. */
async function verifiedCards(
  { signatures, fetch }: Pick<ConnectOptions, 'signatures' | 'fetch'>,
  caller: HttpCaller,
): Promise<VerifiedCards | undefined> {
  if (signatures === undefined) return undefined;
  const { VerifiedCards } = await import('../client/verified-cards.js');
  const cache: VerifierRuntime['cache'] = fetch === undefined ? sharedKeySets : new Map();
  return VerifiedCards.by(signatures, { fetch: caller.request, clock: callerClock, cache });
}

/** A card from a caller: of any version, and not validated yet. */
interface GivenCard {
  readonly url?: unknown;
  readonly supportedInterfaces?: unknown;
  readonly supported_interfaces?: unknown;
  readonly additionalInterfaces?: unknown;
  readonly additional_interfaces?: unknown;
}

/** The urls that the caller gave. A card passed as an object is trusted as well. */
function trustedUrls(agent: string | GivenCard, { trustedOrigins = [] }: ConnectOptions): readonly string[] {
  if (typeof agent === 'string') return [agent, ...trustedOrigins];
  const { supportedInterfaces, supported_interfaces, additionalInterfaces, additional_interfaces } = agent;
  const lists = [supportedInterfaces, supported_interfaces, additionalInterfaces, additional_interfaces];
  const places = [agent, ...lists].flat() as (GivenCard | undefined)[];
  return [...places.map((place) => String(place?.url)), ...trustedOrigins];
}

function callerOf(options: ConnectOptions, trusted: readonly string[]): HttpCaller {
  return {
    request: options.fetch ?? fetchTrusting(trusted),
    answerBytes: options.answerBytes ?? 64 * 1024 * 1024,
    eventBytes: options.eventBytes ?? 16 * 1024 * 1024,
    answerItems: options.answerItems ?? 1_000_000,
    turn: streamTurn,
  };
}

interface ConnectedOptions {
  /** The reference that the caller gave. */
  readonly agent: string | AgentCard;
  readonly card: AgentCard;
  readonly url: string | undefined;
  readonly interfaces: readonly AgentInterface[];
  readonly options: ConnectOptions;
  readonly runtime: ClientRuntime;
  readonly caller: HttpCaller;
  readonly verified: VerifiedCards | undefined;
}

function clientOf({ agent, card, url, interfaces, options, runtime, caller, verified }: ConnectedOptions): Client {
  // A catalog may name a card on another origin, which does not become trusted.
  const given = trustedUrls(agent, options);
  const trusted = new Set(given.map(originOf));
  const transports = transportSource({ card, caller, options, given, trusted });
  const readCard = async (document: object, signal: AbortSignal | undefined) =>
    (await import('../client/answered-card.js')).answeredCard({ document, url, signal }, verified);
  const connection = new AgentConnection({ interfaces, transports, logger: runtime.logger });
  const { tenant, retry = {}, resume = {}, interceptors = [], extensions = [], headers = {} } = options;
  return new Client({
    card,
    connection,
    calls: (latest) => {
      const guard = new CredentialGuard({
        provider: options.credentials,
        card: latest,
        trusted,
        logger: runtime.logger,
      });
      return new OperationCalls({ card: latest, connection, guard, tenant, retry, runtime, readCard });
    },
    interceptors,
    defaults: { extensions, headers },
    bindingOf: (agentInterface) => bindingOf(agentInterface, options),
    send: caller.request,
    resume,
    mayRepeat: retry.mayRepeat ?? false,
    runtime,
  });
}

interface TransportOptions extends Pick<ConnectedOptions, 'card' | 'caller' | 'options'> {
  /** The urls that the caller gave. */
  readonly given: readonly string[];
  /** Their origins, to which transports add their own. */
  readonly trusted: Set<string>;
}

function transportSource(parts: TransportOptions): TransportSource {
  const { caller, options } = parts;
  return async (agentInterface) => {
    const binding = bindingOf(agentInterface, options);
    if (binding !== undefined) {
      const { boundTransport } = await import('./bound-transport.js');
      return boundTransport({ ...parts, binding, agentInterface });
    }
    const version = await CLIENT_VERSIONS.get(agentInterface.protocolVersion)?.();
    if (version === undefined) throw new Error('an interface of an unknown version was selected');
    const isJsonRpc = agentInterface.protocolBinding === 'JSONRPC';
    const codec = isJsonRpc ? version.jsonRpc : version.httpJson;
    const of = isJsonRpc ? await jsonRpcTransports(codec) : httpJsonTransport;
    return of({ agentInterface, codec, caller });
  };
}

function httpJsonTransport(options: HttpJsonTransportOptions): ClientTransport {
  return new HttpJsonTransport(options);
}

/** Agents of old versions may serve some operations by HTTP routes only, or JSON-RPC at two urls. */
async function jsonRpcTransports({
  version,
}: ClientCodec): Promise<(options: JsonRpcTransportOptions) => ClientTransport> {
  if (!isLegacy(version)) return (options) => new JsonRpcTransport(options);
  const { oldJsonRpc } = await import('../client/old-json-rpc.js');
  return ({ agentInterface, codec, caller }) =>
    oldJsonRpc({
      codec,
      agentInterface,
      methodsAt: (url) => new JsonRpcTransport({ agentInterface: { ...agentInterface, url }, codec, caller }),
      routesAt: (url) => new HttpJsonTransport({ agentInterface: { ...agentInterface, url }, codec, caller }),
    });
}

function isKnown({ protocolBinding, protocolVersion, url }: AgentInterface): boolean {
  const isHttp = protocolBinding === 'JSONRPC' || protocolBinding === 'HTTP+JSON';
  return isHttp && CLIENT_VERSIONS.has(protocolVersion) && webUrl(url) !== undefined;
}

/** The further binding of an interface that is neither of JSON-RPC nor of HTTP+JSON. */
function bindingOf(one: AgentInterface, { bindings = [] }: ConnectOptions): ClientBinding | undefined {
  return isKnown(one) ? undefined : bindings.find((binding) => binding.speaks(one));
}
