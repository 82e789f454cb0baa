import { A2AError } from '../errors/a2a-error.js';
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
    const { foundElsewhere } = await import('./other-places.js');
    return foundElsewhere({
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
    const { catalogEntry } = await import('./ai-catalog.js');
    const entry = await catalogEntry(value, { url, identifier, read: (nested) => this.#read(nested, signal) });
    if ('data' in entry) return this.#decoded(entry.data, url);
    const card = await this.#read(entry.url, signal);
    if (card === undefined)
      throw new AgentCardError('not-found', `The catalog names a card that is not there: ${entry.url}`);
    return this.#decoded(card, entry.url);
  }

  async #decoded(document: object, url: string | undefined): Promise<ResolvedCard> {
    const card = await this.#options.decode(document);
    const isDiscovery = url !== undefined && /\/(?:discover|agent\.json)$/.test(url);
    const endpoint = isDiscovery ? (await import('./other-places.js')).baseServerEndpoint(document, url) : undefined;
    return { card, document, url, endpoint };
  }

  /** The JSON of a document; undefined where there is none: pages for people stand at any path of some servers. */
  async #read(url: string, signal: AbortSignal | undefined): Promise<object | undefined> {
    this.#documents += 1;
    if (this.#documents > MOST_DOCUMENTS)
      throw new AgentCardError('invalid', `The catalogs lead to more than ${MOST_DOCUMENTS} documents; name the card`);
    const { status, text } = await this.#options.documents.get(url, { isOwn: originOf(url) === this.#origin, signal });
    if (ABSENT.has(status)) return undefined;
    if (status === 401 || status === 403) {
      const code = status === 401 ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED';
      throw new A2AError(code, `The agent card is not for everybody: the server answered ${status}`);
    }
    if (status < 200 || status > 299) {
      const scheme = status === 400 ? (await import('./other-places.js')).schemeHint(text) : '';
      throw new A2AError(
        status >= 500 ? 'UNAVAILABLE' : 'INVALID_REQUEST',
        `Asked for the agent card, the server answered ${status}${scheme}`,
      );
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
