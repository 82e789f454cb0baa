import { computed, signal } from '@preact/signals';
import {
  type AgentCard,
  type Client,
  type ConnectionEvent,
  connect,
  fetchAgentCard,
  type PublicJwk,
  STREAM_RESUME_EXTENSION,
  UnauthenticatedError,
} from 'parley-a2a/client';
import { Connections } from './connections.js';
import { forgetPrivate } from './conversation-store.js';
import {
  type Credential,
  credentialProvider,
  forwardedCredentials,
  keepCredential,
  keptCredential,
} from './credentials.js';
import { CONSOLE_PATH, fetchHere } from './launch.js';
import { forgetInbox } from './push-inbox.js';
import { route } from './route.js';
import { MODEL_OUTPUT_EXTENSION } from './tool-calls.js';

/** The public keys of this server, below the path at which it is mounted. */
const KEY_SET_PATH = '/.well-known/jwks.json';
let keySetPath = KEY_SET_PATH;

/** The result of the check of the signatures of a card. */
export interface CardVerification {
  readonly status: 'verified' | 'unverifiable' | 'absent';
  readonly signatures: readonly { readonly kid?: string; readonly alg?: string; readonly fault?: string }[];
}

/** An agent in the list of this page's server. */
interface AgentPlace {
  /** Its path on this server. For an agent elsewhere: its address. */
  readonly path: string;
  /** The path of the card. */
  readonly card: string;
  /** The maximum size of a request in bytes. Absent: unknown. */
  readonly bodyBytes?: number;
  /** The path that forwards calls to an agent on another server. Absent: the agent is on this server. */
  readonly calls?: string;
  /** The path of the extended card of an agent on another server. */
  readonly extendedCard?: string;
  /** True if this server has a credential for an agent on another server. */
  readonly hasCredential?: boolean;
  /** Absent: the server has no key to check signatures with. */
  readonly verification?: CardVerification;
}

/** An agent whose card could not be read. */
export interface FailedAgent {
  readonly path: string;
  /** The reason. */
  readonly failure: string;
}

/** The list of the server of this page. */
interface ListedAgents {
  readonly agents: readonly (AgentPlace | FailedAgent)[];
  /** The path at which another host has mounted the server. Absent: none. */
  readonly mount?: string;
  readonly operator?: boolean;
  /** The url of a trace in a tracing tool, with `{traceId}`. */
  readonly traceUrl?: string;
}

/** An agent in the console. */
export interface Agent {
  /** Identifies it in routes. */
  readonly path: string;
  readonly place: AgentPlace;
  /** The url to give to clients. */
  readonly url: string;
  /** The card. For an agent of this server it has the addresses at which this page reaches it. */
  readonly card: AgentCard;
  /** The card as the server sent it. */
  readonly published: unknown;
  readonly connections: Connections;
  /** Absent: the user has entered none, or the agent needs none. */
  readonly credential: Credential | undefined;
  client(): Promise<Client>;
  /** Makes a client for some interfaces of a card. Its caller closes it. */
  clientOf(card: AgentCard): Promise<Client>;
  /** The card that the agent gives to authenticated callers. */
  extendedCard(): Promise<unknown>;
  /** Closes all its streams. */
  close(): void;
}

/** The agents of the server; undefined while they load. */
export const agents = signal<readonly Agent[] | undefined>(undefined);
/** The agents of the server whose cards could not be read. */
export const failedAgents = signal<readonly FailedAgent[]>([]);
/** The reason why the list could not be loaded. */
export const agentsFailure = signal<string | undefined>(undefined);
/** True if the server has an API for operators. */
export const hasOperatorApi = signal(false);
/** The url of a trace in the tracing tool of the operator, with `{traceId}`. */
export const traceUrl = signal<string | undefined>(undefined);
/** The paths of agents that have refused a call for lack of a credential. */
export const refusedAgents = signal<ReadonlySet<string>>(new Set());

/** The agent of the current route. */
export const currentAgent = computed<Agent | undefined>(() => {
  const place = route.value;
  return 'agent' in place ? agents.value?.find(({ path }) => path === place.agent) : undefined;
});

/** True if the agent needs a credential that the user has not entered, or has refused it. */
export function needsSignIn(agent: Agent): boolean {
  if (refusedAgents.value.has(agent.path)) return true;
  const { securityRequirements = [] } = agent.card;
  const isOpen = securityRequirements.length === 0 || securityRequirements.some((one) => isEmpty(one.schemes));
  return !isOpen && agent.credential === undefined && agent.place.hasCredential !== true;
}

function isEmpty(schemes: object | undefined): boolean {
  return Object.keys(schemes ?? {}).length === 0;
}

type ConnectionListener = (event: ConnectionEvent) => void;
const listeners = new Set<ConnectionListener>();

/** Calls a function with all changes of connections, until the returned function is called. */
export function onConnection(listener: ConnectionListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Loads the cards of all agents of the server. */
export async function loadAgents(): Promise<void> {
  agentsFailure.value = undefined;
  try {
    const list = (await json(`${CONSOLE_PATH}/agents.json`)) as ListedAgents;
    hasOperatorApi.value = list.operator === true;
    keySetPath = `${list.mount ?? ''}${KEY_SET_PATH}`;
    const loaded = await Promise.all(list.agents.map(agentOrFailure));
    failedAgents.value = loaded.filter((one) => 'failure' in one);
    agents.value = loaded.filter((one): one is Agent => !('failure' in one));
    traceUrl.value = list.traceUrl;
  } catch (error) {
    agentsFailure.value = `The agents of this server could not be read: ${reasonOf(error)}`;
  }
}

async function agentOrFailure(place: AgentPlace | FailedAgent): Promise<Agent | FailedAgent> {
  if ('failure' in place) return place;
  return loadAgent(place).catch((error: unknown) => ({ path: place.path, failure: reasonOf(error) }));
}

async function loadAgent(place: AgentPlace): Promise<Agent> {
  let published: unknown;
  const onDocument = (document: unknown): void => {
    published = document;
  };
  const card = await fetchAgentCard(`${location.origin}${place.card}`, { onDocument, fetch: fetchHere });
  const shown = place.calls === undefined ? reachable(card) : card;
  return agentOf({ place, published, card: shown, credential: keptCredential(place.path) });
}

/**
 * The card with addresses on this page's origin: the server may have another public name, which its pages may not call.
 */
function reachable(card: AgentCard): AgentCard {
  const here = (url: string): string => {
    const parsed = URL.parse(url);
    return parsed?.protocol.startsWith('http') === true ? `${location.origin}${parsed.pathname}` : url;
  };
  return { ...card, supportedInterfaces: card.supportedInterfaces.map((one) => ({ ...one, url: here(one.url) })) };
}

/** The headers and parameters in which the schemes of a card take keys. */
function keyNames({ securitySchemes = {} }: AgentCard): readonly string[] {
  return Object.values(securitySchemes).flatMap((scheme) =>
    scheme.apiKeySecurityScheme !== undefined ? [scheme.apiKeySecurityScheme.name] : [],
  );
}

/**
 * The card with the address of this server, which forwards calls to an agent on another server. Its streams have no
 * event numbers.
 */
function forwardedCard(card: AgentCard, calls: string): AgentCard {
  const { capabilities } = card;
  const extensions = capabilities.extensions?.filter(({ uri }) => uri !== STREAM_RESUME_EXTENSION) ?? [];
  const url = `${location.origin}${calls}`;
  return {
    ...card,
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { ...capabilities, extensions },
  };
}

type AgentFacts = Pick<Agent, 'place' | 'published' | 'card' | 'credential'>;

function agentOf(facts: AgentFacts): Agent {
  const connections = new Connections(keyNames(facts.card));
  let client: Promise<Client> | undefined;
  const { place, card, credential } = facts;
  const { path, calls, extendedCard } = place;
  const credentials = credential && credentialProvider(credential, path);
  const provider = calls === undefined ? credentials : credentials && forwardedCredentials(credentials);
  const offered = card.capabilities.extensions?.map(({ uri }) => uri) ?? [];
  const clientOf = (described: AgentCard): Promise<Client> =>
    connect(calls === undefined ? described : forwardedCard(described, calls), {
      extensions: offered.filter((uri) => uri === MODEL_OUTPUT_EXTENSION),
      fetch: connections.fetch,
      onConnection: (event) => listeners.forEach((listener) => void listener(event)),
      ...(provider && { credentials: provider }),
    });
  const connected = (): Promise<Client> => {
    client ??= clientOf(card);
    return client;
  };
  return {
    ...facts,
    path,
    url: calls === undefined ? `${location.origin}${path === '/' ? '' : path}` : path,
    connections,
    client: connected,
    extendedCard: async () => {
      if (extendedCard === undefined) return (await connected()).getExtendedAgentCard();
      const { headers = {} } = (await provider?.credentials({ card, url: location.href })) ?? {};
      return json(extendedCard, headers);
    },
    clientOf,
    close: () => void client?.then((one) => one.close()),
  };
}

/** Checks the signatures of a card of this server by the keys that it publishes. */
export async function verifyOwnCard({ place }: Agent): Promise<CardVerification> {
  const { keys } = (await json(keySetPath)) as { readonly keys: readonly PublicJwk[] };
  let signatures: CardVerification['signatures'] = [];
  const onVerdicts = (verdicts: CardVerification['signatures']): void => {
    signatures = verdicts;
  };
  const url = `${location.origin}${place.card}`;
  const isVerified = await fetchAgentCard(url, { fetch: fetchHere, signatures: { keys, onVerdicts } }).then(
    () => true,
    () => false,
  );
  return { status: isVerified ? 'verified' : 'unverifiable', signatures };
}

/** Calls an agent with a credential from now on. It is stored as long as the tab. */
export function signIn(agent: Agent, credential: Credential): void {
  keepCredential(agent.path, credential);
  replaceAgent(agent, credential);
}

/** Deletes the credential of an agent. */
export function signOut(agent: Agent): void {
  keepCredential(agent.path, undefined);
  replaceAgent(agent, undefined);
}

function replaceAgent(agent: Agent, credential: Credential | undefined): void {
  const { path, place, published, card } = agent;
  agent.close();
  // The next user of this tab may be another person.
  forgetPrivate(path);
  forgetInbox(path);
  refusedAgents.value = new Set([...refusedAgents.value].filter((one) => one !== path));
  const changed = agentOf({ place, published, card, credential });
  agents.value = agents.value?.map((one) => (one.path === path ? changed : one));
}

/** The reason of a failed call, for the user. A refusal for lack of a credential opens the sign-in. */
export function failureOf(agent: Agent, error: unknown): string {
  if (error instanceof UnauthenticatedError || (error as { code?: unknown } | undefined)?.code === 'UNAUTHENTICATED') {
    refusedAgents.value = new Set([...refusedAgents.value, agent.path]);
  }
  return reasonOf(error);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function json(url: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const answer = await fetchHere(url, { headers: { ...headers, accept: 'application/json' } });
  if (answer.status === 401) throw new Error('open the console by the url that parley console has printed');
  if (!answer.ok) throw new Error(`the server answered ${answer.status} for ${url}`);
  return answer.json();
}
