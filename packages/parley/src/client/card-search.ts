import { A2AError } from '../errors/a2a-error.js';
import { AgentCardError } from '../errors/agent-card-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import { isObject } from '../model/json.js';
import type { ResolvedCard } from './agent-card-resolver.js';
import { CARD_TYPE, cardOfCatalog } from './ai-catalog.js';

/** A search for a card beyond the well-known paths of its base URL. */
export interface CardSearch {
  /** The URL of the caller, without its fragment. */
  readonly named: string;
  /** The same without query and final slash. */
  readonly base: string;
  /** Identifier of the catalog entry that the caller wants. */
  readonly identifier: string | undefined;
  /** The beginnings of texts that are no JSON object, by URL. */
  readonly pages: ReadonlyMap<string, string>;
  /** Present if the URL looks like that of a card: it is asked first, and this is the search below it as a base. */
  readonly wellKnown?: () => Promise<ResolvedCard | undefined>;
  /** Returns the card in a document or in the catalog at a URL; undefined if there is none. */
  at(url: string, identifier?: string): Promise<ResolvedCard | undefined>;
  /** Returns the JSON object at a URL; undefined if there is none. */
  read(url: string): Promise<object | undefined>;
  decoded(document: object, url: string): Promise<ResolvedCard>;
}

const CARD = '/.well-known/agent-card.json';
const LEGACY_CARD = '/.well-known/agent.json';
const CATALOG = '/.well-known/ai-catalog.json';
/** The member `protocol` of the listing that a host of this library has at `/`. */
const LISTING = 'Agent2Agent (A2A)';
/** Paths of the card on servers with the base-server interface. */
const DISCOVERY = ['/discover', '/agent.json'];

/**
 * Finds a card at the URL itself, at the origin of an interface, in a catalog, or at the paths of the base-server
 * interface.
 * @throws AgentCardError if there is no card. A2AError if a URL that looks like that of a card is refused.
 */
export async function searchCard(search: CardSearch): Promise<ResolvedCard> {
  const { base, named, wellKnown, pages } = search;
  const first = wellKnown === undefined ? {} : await namedCard(search);
  const found = first.found ?? (await wellKnown?.()) ?? (await elsewhere(search));
  if (found !== undefined) return found;
  if (first.refusal !== undefined) throw first.refusal;
  const places = [...(wellKnown === undefined ? [] : [named]), base + CARD, base + LEGACY_CARD];
  throw noCardAt(places, pages, `There is no agent card under ${base}, at none of the well-known paths`);
}

async function elsewhere(search: CardSearch): Promise<ResolvedCard | undefined> {
  const { base, identifier, named, wellKnown } = search;
  const { origin } = new URL(base);
  const ofDiscovery = DISCOVERY.some((path) => base.endsWith(path)) ? await ofBaseServer(search, base) : undefined;
  if (ofDiscovery !== undefined) return ofDiscovery;
  if (identifier === undefined && base !== origin) {
    // The URL may be an interface of the agent whose card is at the origin.
    const atOrigin = await search.at(origin + CARD);
    if (atOrigin?.card.supportedInterfaces.some(({ url }) => url.replace(/(?<!\/)\/+$/, '') === base) === true)
      return atOrigin;
  }
  const isAsked = wellKnown !== undefined || named === `${origin}/`;
  const atNamed = async () => (isAsked ? undefined : (await namedCard(search)).found);
  const itself = identifier === undefined ? await atNamed() : undefined;
  if (itself !== undefined) return itself;
  for (const place of new Set([base, origin])) {
    const found = await search.at(place + CATALOG, identifier);
    if (found !== undefined) return found;
  }
  for (const path of identifier === undefined ? DISCOVERY : []) {
    const found = await ofBaseServer(search, base + path);
    if (found !== undefined) return found;
  }
  const ofCatalog = identifier === undefined ? undefined : await atNamed();
  if (ofCatalog !== undefined) return ofCatalog;
  const top = await search.read(`${origin}/`);
  const listing = catalogOf(top, origin);
  if (listing !== undefined) return await cardOfCatalog(listing, { ...search, url: `${origin}/` });
  if (top === undefined || named !== `${origin}/`) return undefined;
  return (await attempt(() => search.decoded(top, named))).found;
}

/** The card at the URL of the caller. A refusal ends no search, because the URL may be a base or an interface. */
function namedCard({ at, named, identifier }: CardSearch): Promise<Attempt> {
  return attempt(() => at(named, identifier));
}

interface Attempt {
  readonly found?: ResolvedCard | undefined;
  readonly refusal?: Error;
}

async function attempt(look: () => Promise<ResolvedCard | undefined>): Promise<Attempt> {
  try {
    return { found: await look() };
  } catch (error) {
    // A catalog that lists other agents, or several, has been found.
    const isRefusal = error instanceof A2AError || (error instanceof AgentCardError && error.fault === 'invalid');
    if (isRefusal) return { refusal: error };
    throw error;
  }
}

/** Makes the error for documents that are no cards, or the error that there is none. */
export function noCardAt(
  places: readonly string[],
  pages: ReadonlyMap<string, string>,
  otherwise: string,
): AgentCardError {
  for (const place of places) {
    const page = pages.get(place);
    if (page !== undefined) return noCard(place, `it is ${kindOf(page)}`);
  }
  return new AgentCardError('not-found', otherwise);
}

/** Makes the error for a document that is no card. `url` is undefined for a document that the caller gave. */
export function noCard(url: string | undefined, fault: string): AgentCardError {
  const place = url === undefined ? 'The given document' : `The document at ${placeOf(url)}`;
  const advice =
    url === undefined ? 'Give a card, or the url of an agent' : 'Name the url of the agent, or that of its card';
  return new AgentCardError('invalid', `${place} is no agent card: ${fault}. ${advice}`);
}

function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Describes a document that is no JSON object by its beginning. */
function kindOf(page: string): string {
  const text = page.trim();
  if (text === '') return 'empty';
  if (text.startsWith('<')) return 'a web page';
  if (text.startsWith('[')) return 'a list';
  if (text === 'null') return text;
  return text.startsWith('"') ? 'a text' : 'no JSON object';
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

/** Reads a document of any kind, because servers use the same paths for other documents. */
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
