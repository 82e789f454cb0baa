import { A2AError } from '../errors/a2a-error.js';
import { AgentCardError } from '../errors/agent-card-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import { isObject } from '../model/json.js';
import type { ResolvedCard } from './agent-card-resolver.js';
import { CARD_TYPE, cardOfCatalog } from './ai-catalog.js';

/** A search for a card beyond the well-known paths of its base URL. */
export interface CardSearch {
  /** Without a final slash. */
  readonly base: string;
  /** Identifier of the catalog entry that the caller wants. */
  readonly identifier: string | undefined;
  /** Returns the card in a document or in the catalog at a URL; undefined if there is none. */
  at(url: string, identifier?: string): Promise<ResolvedCard | undefined>;
  /** Returns the JSON object at a URL; undefined if there is none. */
  read(url: string): Promise<object | undefined>;
  decoded(document: object, url: string): Promise<ResolvedCard>;
}

const CARD = '/.well-known/agent-card.json';
const CATALOG = '/.well-known/ai-catalog.json';
/** The member `protocol` of the listing that a host of this library has at `/`. */
const LISTING = 'Agent2Agent (A2A)';
/** Paths of the card on servers with the base-server interface. */
const DISCOVERY = ['/discover', '/agent.json'];

/**
 * Finds a card at the origin of an interface, in a catalog, or at the paths of the base-server interface.
 * @throws AgentCardError if there is no card.
 */
export async function searchCard(search: CardSearch): Promise<ResolvedCard> {
  const { base, identifier } = search;
  const { origin } = new URL(base);
  const named = DISCOVERY.some((path) => base.endsWith(path)) ? await ofBaseServer(search, base) : undefined;
  if (named !== undefined) return named;
  if (identifier === undefined && base !== origin) {
    // The URL may be an interface of the agent whose card is at the origin.
    const atOrigin = await search.at(origin + CARD);
    if (atOrigin?.card.supportedInterfaces.some(({ url }) => url.replace(/(?<!\/)\/+$/, '') === base) === true)
      return atOrigin;
  }
  for (const place of new Set([base, origin])) {
    const found = await search.at(place + CATALOG, identifier);
    if (found !== undefined) return found;
  }
  for (const path of identifier === undefined ? DISCOVERY : []) {
    const found = await ofBaseServer(search, base + path);
    if (found !== undefined) return found;
  }
  const listing = catalogOf(await search.read(`${origin}/`), origin);
  if (listing !== undefined) return cardOfCatalog(listing, { ...search, url: `${origin}/` });
  throw new AgentCardError('not-found', `There is no agent card under ${base}, at none of the well-known paths`);
}

/** The listing of a host with several agents as a catalog. The path of an agent is its identifier. */
function catalogOf(listing: object | undefined, origin: string): object | undefined {
  if (listing === undefined || !('protocol' in listing) || listing.protocol !== LISTING) return undefined;
  const agents: readonly unknown[] = 'agents' in listing && Array.isArray(listing.agents) ? listing.agents : [];
  const entries = agents.flatMap((agent) => {
    const url = isObject(agent) && typeof agent.agentCard === 'string' ? URL.parse(agent.agentCard, origin) : null;
    if (url === null) return [];
    const identifier = url.pathname.replace(CARD, '').slice(1) || url.host;
    return [{ identifier, type: CARD_TYPE, url: url.href }];
  });
  return { specVersion: '1.0', entries };
}

/** Reads a document that may be of any kind, because other servers use the same paths. */
async function ofBaseServer({ read, decoded }: CardSearch, url: string): Promise<ResolvedCard | undefined> {
  const document = await read(url);
  return document !== undefined && baseServerEndpoint(document, url) !== undefined ? decoded(document, url) : undefined;
}

/** Returns the base-server interface beside a card of version 0.2; undefined if the document is not such a card. */
export function baseServerEndpoint(document: object, url: string): AgentInterface | undefined {
  const { name, url: address, protocolVersion = '0.2' } = document as Readonly<Record<string, unknown>>;
  const isCard = typeof name === 'string' && typeof address === 'string' && String(protocolVersion).startsWith('0.2');
  if (!isCard || url.includes('/.well-known/')) return undefined;
  return { url: new URL('communicate', url).href, protocolBinding: 'JSONRPC', protocolVersion: '0.2' };
}

/** Matches the pages of nginx, Go and Apache for plain HTTP at a TLS port. */
const EXPECTS_TLS = /plain HTTP|HTTP request to an HTTPS server/;

/** Makes the error for a server that answers the request for a card with a status other than 2xx. */
export function refusedCard(status: number, page: string): A2AError {
  if (status === 401 || status === 403) {
    const code = status === 401 ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED';
    return new A2AError(code, `The agent card is not public: the server answered ${status}`);
  }
  const scheme = status === 400 && EXPECTS_TLS.test(page) ? '; it wants https instead of http' : '';
  return new A2AError(
    status >= 500 ? 'UNAVAILABLE' : 'INVALID_REQUEST',
    `Asked for the agent card, the server answered ${status}${scheme}`,
  );
}
