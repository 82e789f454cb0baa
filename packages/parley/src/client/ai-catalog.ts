import { AgentCardError } from '../errors/agent-card-error.js';
import { isObject } from '../model/json.js';
import type { ResolvedCard } from './agent-card-resolver.js';

type CatalogEntry = { readonly url: string } | { readonly data: object };

/** A search in an AI catalog. */
interface CatalogSearch {
  /** URL of the catalog. */
  readonly url: string;
  /** Identifier of the wanted entry. If undefined, the catalog must list exactly one agent. */
  readonly identifier: string | undefined;
  /** Returns the JSON object at a URL; undefined if there is none. */
  read(url: string): Promise<object | undefined>;
  decoded(document: object, url: string): Promise<ResolvedCard>;
}

interface Listed {
  readonly identifier: string;
  readonly version: string;
  readonly updatedAt: string;
  readonly entry: CatalogEntry;
}

/** The type of the entries of a catalog that name cards. */
export const CARD_TYPE = 'application/a2a-agent-card+json';
const CATALOG_TYPE = 'application/ai-catalog+json';
const MAJOR_VERSION = 1;
const NESTING = 4;

/**
 * Finds the card of an agent through an AI catalog and its nested catalogs.
 * @throws AgentCardError if the catalog lists no such agent, lists several, or names a card that is not there.
 */
export async function cardOfCatalog(catalog: object, search: CatalogSearch): Promise<ResolvedCard> {
  const entry = await catalogEntry(catalog, search);
  if ('data' in entry) return search.decoded(entry.data, search.url);
  const card = await search.read(entry.url);
  if (card === undefined)
    throw new AgentCardError('not-found', `The catalog names a card that is not there: ${entry.url}`);
  return search.decoded(card, entry.url);
}

/** Chooses the entry. If several have the same identifier, the newest version counts. */
async function catalogEntry(catalog: object, search: CatalogSearch): Promise<CatalogEntry> {
  const { url, identifier } = search;
  const listed = newest(await listedAgents(catalog, [url], search.read));
  const fitting = identifier === undefined ? listed : listed.filter((item) => item.identifier === identifier);
  const [first, second] = fitting;
  const names = listed.map((item) => item.identifier);
  if (first === undefined) {
    const wanted = identifier === undefined ? 'an agent' : identifier;
    const listing = names.length === 0 ? 'It lists none' : `It lists ${names.join(', ')}`;
    throw new AgentCardError('not-found', `The catalog at ${url} does not list ${wanted}. ${listing}`, names);
  }
  if (second === undefined) return first.entry;
  throw new AgentCardError(
    'ambiguous',
    `The catalog at ${url} lists several agents: ${names.join(', ')}. Name one behind the url, as in #${names[0]}`,
    names,
  );
}

async function listedAgents(catalog: object, path: readonly string[], read: CatalogSearch['read']): Promise<Listed[]> {
  const { specVersion, entries } = catalog as { specVersion?: unknown; entries?: unknown };
  const major = Number.parseInt(String(specVersion), 10);
  if (!(major <= MAJOR_VERSION)) {
    throw new AgentCardError(
      'invalid',
      `The catalog at ${path.at(-1)} has version ${specVersion}; this client reads version ${MAJOR_VERSION}`,
    );
  }
  const listed: Listed[] = [];
  for (const item of Array.isArray(entries) ? (entries as unknown[]) : []) {
    if (!isObject(item)) continue;
    const { identifier, type, mediaType, url, data, version, updatedAt } = item;
    const kind = type ?? mediaType;
    const target = typeof url === 'string' ? URL.parse(url, path.at(-1))?.href : undefined;
    if (kind === CATALOG_TYPE && path.length < NESTING) {
      const nested = target === undefined ? data : path.includes(target) ? undefined : await read(target);
      if (isObject(nested)) listed.push(...(await listedAgents(nested, [...path, target ?? `${path.at(-1)}`], read)));
    }
    const entry = target === undefined ? (isObject(data) ? { data } : undefined) : { url: target };
    if (kind !== CARD_TYPE || typeof identifier !== 'string' || entry === undefined) continue;
    listed.push({ identifier, version: String(version ?? ''), updatedAt: String(updatedAt ?? ''), entry });
  }
  return listed;
}

function newest(listed: readonly Listed[]): Listed[] {
  const byIdentifier = new Map<string, Listed>();
  for (const item of listed) {
    const other = byIdentifier.get(item.identifier);
    if (other === undefined || isNewer(item, other)) byIdentifier.set(item.identifier, item);
  }
  return [...byIdentifier.values()];
}

function isNewer(item: Listed, other: Listed): boolean {
  const order = item.version.localeCompare(other.version, 'en', { numeric: true });
  return order === 0 ? item.updatedAt > other.updatedAt : order > 0;
}
