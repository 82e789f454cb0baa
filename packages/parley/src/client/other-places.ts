import { AgentCardError } from '../errors/agent-card-error.js';
import type { AgentInterface } from '../model/agent-card.js';
import type { ResolvedCard } from './agent-card-resolver.js';

/** A search for a card that is at none of the well-known paths below its base url. */
export interface FurtherSearch {
  /** Without a slash at its end. */
  readonly base: string;
  /** Of an entry of a catalog. */
  readonly identifier: string | undefined;
  /** The card that a document is or leads to; undefined if there is none. */
  at(url: string, identifier?: string): Promise<ResolvedCard | undefined>;
  /** The JSON of a document; undefined if there is none. */
  read(url: string): Promise<object | undefined>;
  decoded(document: object, url: string): Promise<ResolvedCard>;
}

const CARD = '/.well-known/agent-card.json';
const CATALOG = '/.well-known/ai-catalog.json';
/** Documents with the card of a server of the base-server interface. */
const DISCOVERY = ['/discover', '/agent.json'];

/**
 * Finds the card of an interface at its origin, in a catalog, or in the place of the base-server interface.
 * @throws AgentCardError
 */
export async function foundElsewhere(search: FurtherSearch): Promise<ResolvedCard> {
  const { base, identifier } = search;
  const { origin } = new URL(base);
  const named = DISCOVERY.some((path) => base.endsWith(path)) ? await ofBaseServer(search, base) : undefined;
  if (named !== undefined) return named;
  if (identifier === undefined && base !== origin) {
    // The url may be an interface of the agent whose card stands at the origin.
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
  throw new AgentCardError('not-found', `There is no agent card under ${base}, at none of the well-known paths`);
}

/** Any server may have a document there, of any kind. */
async function ofBaseServer({ read, decoded }: FurtherSearch, url: string): Promise<ResolvedCard | undefined> {
  const document = await read(url);
  return document !== undefined && baseServerEndpoint(document, url) !== undefined ? decoded(document, url) : undefined;
}

/**
 * The interface of a server of the base-server interface, beside the document with its card; undefined if the document
 * is another one. Such cards are of 0.2.
 */
export function baseServerEndpoint(document: object, url: string): AgentInterface | undefined {
  const { name, url: address, protocolVersion = '0.2' } = document as Readonly<Record<string, unknown>>;
  const isCard = typeof name === 'string' && typeof address === 'string' && String(protocolVersion).startsWith('0.2');
  if (!isCard || url.includes('/.well-known/')) return undefined;
  return { url: new URL('communicate', url).href, protocolBinding: 'JSONRPC', protocolVersion: '0.2' };
}

/** The pages of nginx, Go and Apache for plain HTTP at a port of TLS. */
const EXPECTS_TLS = /plain HTTP|HTTP request to an HTTPS server/;

/** The end of an error for a server that expects TLS, as the page says that it answers with. */
export function schemeHint(page: string): string {
  return EXPECTS_TLS.test(page) ? '; it wants https instead of http' : '';
}
