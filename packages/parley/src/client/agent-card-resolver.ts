import { AgentCardError } from '../errors/agent-card-error.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import { isObject } from '../model/json.js';
import type { CachedDocuments } from './cached-documents.js';
import { originOf } from './credential-guard.js';
import { webUrl } from './document-source.js';

/** A card and where it was found. */
export interface ResolvedCard {
  readonly card: AgentCard;
  /** The card as it was received. */
  readonly document: object;
  /** Undefined for one that was given. */
  readonly url: string | undefined;
  /** The base-server interface of the server. The card itself does not name it. */
  readonly endpoint?: AgentInterface | undefined;
}

/** What cards are found with. */
export interface AgentCardResolverOptions {
  readonly documents: CachedDocuments;
  /** Reads a card of any version, as JSON value. */
  readonly decode: (card: unknown) => Promise<AgentCard>;
}

const CARD = '/.well-known/agent-card.json';
const LEGACY_CARD = '/.well-known/agent.json';
const ABSENT: ReadonlySet<number> = new Set([404, 405, 410, 501]);
/** Catalogs may name any number of others. */
const MOST_DOCUMENTS = 20;

/**
 * Finds the card of an agent (spec §8.2): by its own url, by the agent's base url with the well-known paths of all
 * versions, or in an AI catalog, by its only entry or the one that `#identifier` names. A resolver is used once, and
 * asks for at most 20 documents.
 */
export class AgentCardResolver {
  readonly #options: AgentCardResolverOptions;
  /** Of the reference. */
  #origin = '';
  #documents = 0;

  constructor(options: AgentCardResolverOptions) {
    this.#options = options;
  }

  /**
   * @throws AgentCardError where there is no card, ConnectionError, or what the server answered instead.
   */
  async resolve(reference: string | AgentCard | object, signal?: AbortSignal): Promise<ResolvedCard> {
    if (typeof reference !== 'string') return this.#decoded(reference, undefined);
    const url = httpUrl(reference);
    this.#origin = originOf(url.href);
    const identifier = identifierOf(url.hash);
    url.hash = '';
    if (url.pathname.endsWith('.json')) {
      const found = await this.#at(url.href, { identifier, signal });
      if (found !== undefined) return found;
      throw new AgentCardError('not-found', `There is no agent card at ${url.origin}${url.pathname}`);
    }
    return this.#wellKnown(url, identifier, signal);
  }

  async #wellKnown(url: URL, identifier: string | undefined, signal: AbortSignal | undefined): Promise<ResolvedCard> {
    const base = url.origin + url.pathname.replace(/(?<!\/)\/+$/, '');
    for (const path of identifier === undefined ? [CARD, LEGACY_CARD] : []) {
      const found = await this.#at(base + path, { signal });
      if (found !== undefined) return found;
    }
    const { searchCard } = await import('./card-search.js');
    return searchCard({
      base,
      identifier,
      at: (place, wanted) => this.#at(place, { identifier: wanted, signal }),
      read: (place) => this.#read(place, signal),
      decoded: (document, place) => this.#decoded(document, place),
    });
  }

  /** The card that a document is or leads to; undefined where there is none. */
  async #at(
    url: string,
    { identifier, signal }: { readonly identifier?: string | undefined; readonly signal: AbortSignal | undefined },
  ): Promise<ResolvedCard | undefined> {
    const value = await this.#read(url, signal);
    if (value === undefined) return undefined;
    if (!('specVersion' in value && 'entries' in value)) return this.#decoded(value, url);
    const { cardOfCatalog } = await import('./ai-catalog.js');
    return cardOfCatalog(value, {
      url,
      identifier,
      read: (place) => this.#read(place, signal),
      decoded: (card, place) => this.#decoded(card, place),
    });
  }

  async #decoded(document: object, url: string | undefined): Promise<ResolvedCard> {
    const card = await this.#options.decode(document);
    const isDiscovery = url !== undefined && /\/(?:discover|agent\.json)$/.test(url);
    const endpoint = isDiscovery ? (await import('./card-search.js')).baseServerEndpoint(document, url) : undefined;
    return { card, document, url, endpoint };
  }

  /** The JSON of a document; undefined where there is none: pages for people stand at any path of some servers. */
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
      // Not JSON, so no card.
    }
    return undefined;
  }
}

function httpUrl(reference: string): URL {
  const url = webUrl(reference);
  if (url !== undefined) return url;
  throw new AgentCardError(
    'invalid',
    `An agent is named by an http or https url or by its card, not by ${JSON.stringify(reference)}`,
  );
}

/** The entry of a catalog that a fragment names. */
function identifierOf(hash: string): string | undefined {
  if (hash === '') return undefined;
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    throw new AgentCardError('invalid', `${hash} is not percent-encoded text`);
  }
}
