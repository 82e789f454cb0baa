import { computed, signal } from '@preact/signals';
import {
  type AgentCard,
  type Client,
  type ConnectionEvent,
  connect,
  fetchAgentCard,
  UnauthenticatedError,
} from 'parley-a2a/client';
import { Connections } from './connections.js';
import { forgetPrivate } from './conversation-store.js';
import { type Credential, credentialProvider, keepCredential, keptCredential } from './credentials.js';
import { route } from './route.js';
import { MODEL_OUTPUT_EXTENSION } from './tool-calls.js';

/** The path that the server gives the console. */
const CONSOLE_PATH = '/console';

/** An agent of this server. */
export interface Agent {
  /** Its path, which names it in routes. */
  readonly path: string;
  /** The url to give to clients. */
  readonly url: string;
  /** The card, with the addresses at which this page reaches the agent. */
  readonly card: AgentCard;
  /** The card as the server gave it. */
  readonly published: unknown;
  readonly connections: Connections;
  /** Absent: none was given, or the agent asks for none. */
  readonly credential: Credential | undefined;
  client(): Promise<Client>;
  /** A client of a card that names some of the interfaces. Its caller closes it. */
  clientOf(card: AgentCard): Promise<Client>;
  /** Ends all its streams. */
  close(): void;
}

/** The agents of the server; undefined while they load. */
export const agents = signal<readonly Agent[] | undefined>(undefined);
/** The reason why they could not be loaded. */
export const agentsFailure = signal<string | undefined>(undefined);
/** The paths of agents that have refused a call for lack of a credential. */
export const refusedAgents = signal<ReadonlySet<string>>(new Set());

/** The agent of the current route. */
export const currentAgent = computed<Agent | undefined>(() => {
  const place = route.value;
  return 'agent' in place ? agents.value?.find(({ path }) => path === place.agent) : undefined;
});

/** True if the agent asks for a credential that the user has not given, or that it has refused. */
export function needsSignIn(agent: Agent): boolean {
  if (refusedAgents.value.has(agent.path)) return true;
  const { securityRequirements = [] } = agent.card;
  const isOpen = securityRequirements.length === 0 || securityRequirements.some((one) => isEmpty(one.schemes));
  return !isOpen && agent.credential === undefined;
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

interface AgentPlace {
  readonly path: string;
  readonly card: string;
}

/** Loads the cards of all agents of the server. */
export async function loadAgents(): Promise<void> {
  agentsFailure.value = undefined;
  try {
    const list = (await json(`${CONSOLE_PATH}/agents.json`)) as { readonly agents: readonly AgentPlace[] };
    agents.value = await Promise.all(list.agents.map(loadAgent));
  } catch (error) {
    agentsFailure.value = `The agents of this server could not be read: ${reasonOf(error)}`;
  }
}

async function loadAgent({ path, card: cardPath }: AgentPlace): Promise<Agent> {
  let published: unknown;
  const onDocument = (document: unknown): void => {
    published = document;
  };
  const card = await fetchAgentCard(`${location.origin}${cardPath}`, { onDocument });
  return agentOf({ path, published, card: reachable(card), credential: keptCredential(path) });
}

/**
 * The card with addresses of this page's origin: the server may be known under another name, which its pages may not
 * call.
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
    'apiKeySecurityScheme' in scheme ? [scheme.apiKeySecurityScheme.name] : [],
  );
}

type AgentFacts = Pick<Agent, 'path' | 'published' | 'card' | 'credential'>;

function agentOf(facts: AgentFacts): Agent {
  const connections = new Connections(keyNames(facts.card));
  let client: Promise<Client> | undefined;
  const { card, credential, path } = facts;
  const offered = card.capabilities.extensions?.map(({ uri }) => uri) ?? [];
  const clientOf = (described: AgentCard): Promise<Client> =>
    connect(described, {
      extensions: offered.filter((uri) => uri === MODEL_OUTPUT_EXTENSION),
      fetch: connections.fetch,
      onConnection: (event) => listeners.forEach((listener) => void listener(event)),
      ...(credential && { credentials: credentialProvider(credential) }),
    });
  return {
    ...facts,
    url: `${location.origin}${path === '/' ? '' : path}`,
    connections,
    client: () => {
      client ??= clientOf(card);
      return client;
    },
    clientOf,
    close: () => void client?.then((one) => one.close()),
  };
}

/** Calls an agent with a credential from now on. It is kept as long as the tab. */
export function signIn(agent: Agent, credential: Credential): void {
  keepCredential(agent.path, credential);
  replaceAgent(agent, credential);
}

/** Forgets the credential of an agent. */
export function signOut(agent: Agent): void {
  keepCredential(agent.path, undefined);
  replaceAgent(agent, undefined);
}

function replaceAgent(agent: Agent, credential: Credential | undefined): void {
  const { path, published, card } = agent;
  agent.close();
  // The next user of this tab may be another one.
  forgetPrivate(path);
  refusedAgents.value = new Set([...refusedAgents.value].filter((one) => one !== path));
  const changed = agentOf({ path, published, card, credential });
  agents.value = agents.value?.map((one) => (one.path === path ? changed : one));
}

/** The reason of a failed call, for the user. A refusal for lack of a credential leads to the sign-in. */
export function failureOf(agent: Agent, error: unknown): string {
  if (error instanceof UnauthenticatedError || (error as { code?: unknown } | undefined)?.code === 'UNAUTHENTICATED') {
    refusedAgents.value = new Set([...refusedAgents.value, agent.path]);
  }
  return reasonOf(error);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function json(url: string): Promise<unknown> {
  const answer = await fetch(url, { headers: { accept: 'application/json' } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status} for ${url}`);
  return answer.json();
}
