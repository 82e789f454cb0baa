import type { AgentCard } from 'parley-a2a';
import { type Client, type ConnectOptions, type Fetch, fetchAgentCard } from 'parley-a2a/client';
import type { RequestCredentials } from 'parley-a2a/credentials';
import { agentOptions } from '../agent/agent-options.js';
import { agentTarget } from '../agent/agent-target.js';
import type { CardVerification } from '../agent/card-signatures.js';
import { listedAgents } from '../agent/listed-agents.js';
import { readCard } from '../agent/read-card.js';
import { connectAgent } from '../agent/with-agent.js';
import type { Invocation } from '../command-line/invocation.js';
import { failureOf } from '../failure/failure.js';
import { AgentClients } from './agent-clients.js';

/** An agent in the console. */
export interface ShownAgent {
  /** The name of the agent in the page: the address that the user gave. */
  readonly reference: string;
  readonly card: AgentCard;
  /** The card as the agent publishes it. */
  readonly published: unknown;
  /** Undefined if no flag sets a key. */
  readonly verification: CardVerification | undefined;
  /** True if the tool has credentials for the agent. */
  readonly hasCredential: boolean;
  readonly clients: AgentClients;
  /** Sends requests to the authorization servers of the card, to public addresses unless the agent is private. */
  readonly fetch: Fetch;
}

/** An agent of a catalog whose card cannot be read. */
export interface FailedAgent {
  /** Its name in the page. */
  readonly path: string;
  /** The reason. */
  readonly failure: string;
}

/** Credentials of the tool are not sent to authorization servers. */
const ANONYMOUS = { credentials: async () => ({}) };

/**
 * Reads the card of the agent that an argument or the settings select, or all cards of a catalog.
 * @throws Error if there is no card.
 */
export async function shownAgents(
  invocation: Invocation,
  argument: string | undefined,
): Promise<{ readonly shown: readonly ShownAgent[]; readonly failed: readonly FailedAgent[] }> {
  try {
    return { shown: [await shownAgent(invocation, argument)], failed: [] };
  } catch (error) {
    const target = agentTarget(invocation, argument);
    const listed = typeof target === 'string' ? listedAgents(invocation, error, target) : [];
    const cards = await Promise.allSettled(listed.map((reference) => shownAgent(invocation, reference)));
    const shown = cards.flatMap((card) => (card.status === 'fulfilled' ? [card.value] : []));
    if (shown.length === 0) throw cards.find((card) => card.status === 'rejected')?.reason ?? error;
    const failed = cards.flatMap((card, at) =>
      card.status === 'rejected' ? [{ path: listed[at] ?? '', failure: failureOf(card.reason).message }] : [],
    );
    return { shown, failed };
  }
}

async function shownAgent(invocation: Invocation, argument: string | undefined): Promise<ShownAgent> {
  const { settings } = invocation;
  const target = agentTarget(invocation, argument);
  const { connect: given, credentials, signatures } = await agentOptions(invocation, target);
  const connect = settings.findSetting('a2a-version') === undefined ? anyVersion(given) : given;
  let published: unknown;
  const onDocument = (document: unknown): void => {
    published = document;
  };
  // The page shows whether a trusted key has signed the card. Calls require such a signature if a flag sets a key.
  const { signatures: _, ...unchecked } = connect;
  const card = await readCard(fetchAgentCard(target, { ...unchecked, onDocument }));
  if (signatures !== undefined) await fetchAgentCard(target, connect).catch(() => {});
  const clients = new AgentClients((credential) =>
    connectAgent(
      target,
      { ...connect, ...(credential !== undefined && { credentials: { credentials: async () => credential } }) },
      settings,
    ),
  );
  const reference = typeof target === 'string' ? target : (card.supportedInterfaces[0]?.url ?? card.name);
  // Calls report an expired login. The page then offers another login.
  const own: RequestCredentials = await credentials.credentials({ card, url: reference }).catch(() => ({}));
  const hasCredential = Object.keys({ ...own.headers, ...own.query }).length > 0;
  let stranger: Promise<Client> | undefined;
  const fetch: Fetch = async (url, init) => {
    stranger ??= connectAgent(target, { ...connect, credentials: ANONYMOUS, headers: {} }, settings);
    return (await stranger).request(url, init);
  };
  return { reference, card, published, verification: signatures?.verification, hasCredential, clients, fetch };
}

/** Returns the options for agents of every version. An agent with several versions is called in the newest. */
function anyVersion({ version: newest = '1.0', prefer = [], ...options }: ConnectOptions): ConnectOptions {
  return { ...options, prefer: [...prefer, newest] };
}
