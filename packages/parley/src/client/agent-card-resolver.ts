import { AgentCardError } from '../errors/agent-card-error.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { isObject } from '../model/json.js';
import type { CachedDocuments } from './cached-documents.js';
import { originOf } from './credential-guard.js';
import { webUrl } from './document-source.js';

/** A card and its source. */
export interface ResolvedCard {
  readonly card: AgentCard;
  /** The JSON of the card, as received. */
  readonly document: object;
  /** URL of the card; undefined if the caller gave the card itself. */
  readonly url: string | undefined;
  /** The base-server interface of the server. The card itself does not name it. */
  readonly endpoint?: AgentInterface | undefined;
}

/** The options of `AgentCardResolver`. */
interface AgentCardResolverOptions {
  readonly documents: CachedDocuments;
  /** Reads a card of any version from its JSON. */
  readonly decode: (card: unknown) => Promise<AgentCard>;
}

const CARD = '/.well-known/agent-card.json';
const LEGACY_CARD = '/.well-known/agent.json';
/** Paths that look like a card of their own, such as `/v1/card` or `/agentCard`. */
const NAMED_CARD = /card$/i;
const ABSENT: ReadonlySet<number> = new Set([404, 405, 410, 501]);
/** The maximum number of documents that a search reads: catalogs may name any number of others. */
const MOST_DOCUMENTS = 20;
const SHOWN_CHARACTERS = 100;

/**
 * Finds the card of an agent (Spec §8.2). Looks at the well-known paths below the agent's base URL, at the URL itself,
 * and in an AI catalog. A URL that ends in `.json` is that of the document. A URL that ends in `card` is asked first.
 * In a catalog, `#identifier` names the entry; without it, the catalog must have one entry. Use a resolver once. It
 * makes at most 20 requests.
 */
export class AgentCardResolver {
  readonly #options: AgentCardResolverOptions;
  /** Origin of the reference. */
  #origin = '';
  #documents = 0;
  /** Texts that are no JSON object, by their URL. Only their beginning is kept. */
  readonly #pages = new Map<string, string>();

  constructor(options: AgentCardResolverOptions) {
    this.#options = options;
  }

  /**
   * Finds a card by its URL, or reads the given card.
   * @throws AgentCardError if there is no card; ConnectionError; A2AError if the server answers with an error status.
   */
  async resolve(reference: string | AgentCard | object, signal?: AbortSignal): Promise<ResolvedCard> {
    if (typeof reference !== 'string') return this.#decode(reference, undefined);
    const url = await httpUrl(reference);
    this.#origin = originOf(url.href);
    const identifier = identifierOf(url.hash);
    url.hash = '';
    if (!url.pathname.endsWith('.json')) return await this.#wellKnown(url, identifier, signal);
    const found = await this.#at(url.href, { identifier, signal });
    if (found !== undefined) return found;
    const { noCardAt } = await import('./card-search.js');
    throw noCardAt([url.href], this.#pages, `There is no agent card at ${url.origin}${url.pathname}`);
  }

  async #wellKnown(url: URL, identifier: string | undefined, signal: AbortSignal | undefined): Promise<ResolvedCard> {
    const base = url.origin + url.pathname.replace(/(?<!\/)\/+$/, '');
    const wellKnown = async (): Promise<ResolvedCard | undefined> => {
      for (const path of identifier === undefined ? [CARD, LEGACY_CARD] : []) {
        const found = await this.#at(base + path, { signal });
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const isNamed = NAMED_CARD.test(base);
    const found = isNamed ? undefined : await wellKnown();
    if (found !== undefined) return found;
    const { searchCard } = await import('./card-search.js');
    // With `await`, the stack of an error leads to the caller.
    return await searchCard({
      named: url.href,
      base,
      identifier,
      pages: this.#pages,
      ...(isNamed && { wellKnown }),
      at: (place, wanted) => this.#at(place, { identifier: wanted, signal }),
      read: (place) => this.#read(place, signal),
      decoded: (document, place) => this.#decode(document, place),
    });
  }

  /** Returns the card in a document, or the card to which a catalog leads; undefined if there is no document. */
  async #at(
    url: string,
    { identifier, signal }: { readonly identifier?: string | undefined; readonly signal: AbortSignal | undefined },
  ): Promise<ResolvedCard | undefined> {
    const value = await this.#read(url, signal);
    if (value === undefined) return undefined;
    if (!('specVersion' in value && 'entries' in value)) return this.#decode(value, url);
    const { cardOfCatalog } = await import('./ai-catalog.js');
    return await cardOfCatalog(value, {
      url,
      identifier,
      read: (place) => this.#read(place, signal),
      decoded: (card, place) => this.#decode(card, place),
    });
  }

  /** @throws AgentCardError `invalid` that names the URL, if the document is no card. */
  async #decode(document: object, url: string | undefined): Promise<ResolvedCard> {
    const card = await this.#options.decode(document).catch(async (error: unknown) => {
      if (!(error instanceof AgentCardError && error.fault === 'invalid')) throw error;
      throw (await import('./card-search.js')).noCard(url, error.message);
    });
    const isDiscovery = url !== undefined && /\/(?:discover|agent\.json)$/.test(url);
    const endpoint = isDiscovery ? (await import('./card-search.js')).baseServerEndpoint(document, url) : undefined;
    return { card, document, url, endpoint };
  }

  /** Returns the JSON object at a URL; undefined if there is none. Some servers answer every path with a page. */
  async #read(url: string, signal: AbortSignal | undefined): Promise<object | undefined> {
    this.#documents += 1;
    if (this.#documents > MOST_DOCUMENTS)
      throw new AgentCardError('invalid', `The catalogs lead to more than ${MOST_DOCUMENTS} documents; name the card`);
    const { status, text } = await this.#options.documents.get(url, { isOwn: originOf(url) === this.#origin, signal });
    if (ABSENT.has(status)) return undefined;
    if (status < 200 || status > 299) {
      const { refusedCard } = await import('./card-search.js');
      throw refusedCard(status, text);
    }
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) return value;
    } catch {
      // A page is not JSON, so there is no card.
    }
    this.#pages.set(url, text.slice(0, SHOWN_CHARACTERS));
    return undefined;
  }
}

/**
 * An agent as a caller names it, with the scheme that an address such as `localhost:8080` lacks.
 * @throws AgentCardError `invalid` for anything but an address or an object.
 */
export async function namedAgent<Agent extends object>(agent: string | Agent): Promise<string | Agent> {
  if (typeof agent === 'object' && agent !== null) return agent;
  return (await httpUrl(agent)).href;
}

async function httpUrl(reference: unknown): Promise<URL> {
  const url = webUrl(String(reference));
  return url ?? (await import('./agent-address.js')).addressUrl(reference);
}

/** Returns the identifier of a catalog entry from a URL fragment. */
function identifierOf(hash: string): string | undefined {
  if (hash === '') return undefined;
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    throw new AgentCardError('invalid', `${hash} is not percent-encoded text`);
  }
}
