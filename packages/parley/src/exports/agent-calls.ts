import { type CalledAgent, handedCredentials, type IdentityRule } from '../agent-calls/handed-identity.js';
import { patienceOf } from '../agent-calls/patience.js';
import { AgentCallsExtension } from '../app/agent-calls-extension.js';
import type { HostExtension } from '../app/host-extension.js';
import { agentCallsSchema } from '../app/options/agent-calls-options.js';
import type { User } from '../auth/user.js';
import type { InProcessAgent } from '../bindings/in-process/in-process-agent.js';
import type { ClientCallContext } from '../client/call-options.js';
import type { AgentCard } from '../model/agent-card.js';
import { type DestinationOptions, Destinations, destinationOf } from '../net/destinations.js';
import type { Interceptor } from '../operations/interceptor.js';
import { checkOptions } from '../options/check-options.js';
import type { AgentTarget, LocalAgent } from '../server/agent-call.js';
import { type ConnectOptions, connect } from './client.js';
import { guardedFetch } from './guarded-fetch.js';

export { AGENT_CALLS_EXTENSION } from '../agent-calls/call-chain.js';
export type { CalledAgent, HandedIdentity, IdentityRule } from '../agent-calls/handed-identity.js';
export { AgentCallError, type AgentCallFault } from '../errors/agent-call-error.js';
export type {
  AgentCall,
  AgentCallMessage,
  AgentCallOptions,
  AgentTarget,
  CallAgent,
  LocalAgent,
} from '../server/agent-call.js';

/** Options of calls of other agents. Times are in ms. */
export interface AgentCallsOptions
  extends DestinationOptions,
    Pick<ConnectOptions, 'bindings' | 'signatures' | 'resume'> {
  /** Maximum depth of nested calls between agents; default 5, at most 8. */
  readonly maxDepth?: number;
  /** Time limit of a call; default 10 minutes. The rest of the turn's deadline is a limit in any case. */
  readonly timeoutMs?: number;
  /** Longest time to cancel the task of a callee; default 5 s. */
  readonly cancelMs?: number;
  /** Most bytes of all events of a call; default 32 MiB. */
  readonly maxBytes?: number;
  /** Most members and elements of the JSON of an event; default 100,000. */
  readonly answerItems?: number;
  /** Decides which credentials a callee gets for a caller. Default: none. */
  readonly identity?: IdentityRule;
  /** Functions around each call, such as `signedCalls` with the audience of the callee. Default: none. */
  readonly interceptors?: CallInterceptors;
}

/** Returns the interceptors for calls on behalf of a user. It gets the target as the calling agent named it. */
type CallInterceptors = (
  target: AgentTarget,
  user: User | undefined,
) => readonly Interceptor<ClientCallContext>[] | Promise<readonly Interceptor<ClientCallContext>[]>;

const DEFAULT_DEPTH = 5;
const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_CANCEL_MS = 5_000;
const DEFAULT_BYTES = 33_554_432;
const DEFAULT_ITEMS = 100_000;
const UNLIMITED = Number.POSITIVE_INFINITY;

/**
 * Lets the agents of a server call other agents by `context.callAgent`. Given in the option `calls` of a server. Urls
 * may come from outside: only public addresses are called, and those of `allow`.
 * @throws OptionsError naming every option that is unknown or wrong.
 */
export function agentCalls(options: AgentCallsOptions = {}): HostExtension {
  checkOptions({ subject: 'agentCalls', schema: agentCallsSchema, options });
  const { maxDepth = DEFAULT_DEPTH, timeoutMs = DEFAULT_TIMEOUT_MS, cancelMs = DEFAULT_CANCEL_MS } = options;
  const {
    maxBytes = DEFAULT_BYTES,
    answerItems = DEFAULT_ITEMS,
    identity,
    interceptors: around,
    allow,
    only,
    bindings,
    signatures,
    resume = {},
  } = options;
  const patience = patienceOf(resume);
  const addresses = { ...(allow && { allow }), ...(only && { only }) };
  const destinations = new Destinations(addresses);
  const fetch = guardedFetch({ ...addresses, bytes: UNLIMITED, ms: UNLIMITED });
  return new AgentCallsExtension({
    maxDepth,
    limits: { timeoutMs, cancelMs, maxBytes },
    patience,
    random: Math.random,
    connect: async (target, { user, signal, first, last, onConnection }) => {
      const own = (await around?.(target, user)) ?? [];
      // Without interceptors that change it, a repeated message is identical.
      const reached = { signal, timeoutMs, onConnection, resume, retry: { attempts: patience.attempts } };
      const interceptors = [...(first ? [first] : []), ...own, ...(own.length === 0 ? [] : [last])];
      if (isLocal(target)) return connect(target as InProcessAgent, { ...reached, interceptors });
      const called = typeof target === 'string' ? target : callable(target, destinations);
      const identified = await identity?.(user, calleeOf(called));
      return connect(called, {
        ...reached,
        fetch,
        answerBytes: maxBytes,
        eventBytes: maxBytes,
        answerItems,
        interceptors,
        ...(identified && { credentials: handedCredentials(identified) }),
        ...(bindings && { bindings }),
        ...(signatures && { signatures }),
      });
    },
  });
}

function isLocal(target: AgentTarget): target is LocalAgent {
  return typeof target === 'object' && !('supportedInterfaces' in target);
}

function calleeOf(target: string | AgentCard): CalledAgent {
  return typeof target === 'string' ? { url: target, card: undefined } : { url: undefined, card: target };
}

/** The bindings whose requests pass the guarded `fetch`. */
const FETCHED: readonly string[] = ['JSONRPC', 'HTTP+JSON'];

/**
 * The card without interfaces of further bindings whose host names could lead to any address. Connections to them do
 * not use the guarded `fetch`, and a client trusts the addresses in a given card.
 */
function callable(card: AgentCard, destinations: Destinations): AgentCard {
  const supportedInterfaces = card.supportedInterfaces.filter(({ url, protocolBinding }) => {
    const parsed = URL.parse(/^\w+:\/\/./.test(url) ? url : `https://${url}`);
    if (parsed === null) return false;
    if (FETCHED.includes(protocolBinding)) return true;
    const destination = destinationOf(parsed);
    return destinations.allowsName(destination) || destinations.allows(destination, destination.host);
  });
  return { ...card, supportedInterfaces };
}
