import type { WireCodec } from '../../codec/wire-codec.js';
import { A2AError } from '../../errors/a2a-error.js';
import { VersionNotSupportedError } from '../../errors/spec-errors.js';
import { isLegacy } from '../../operations/versions.js';
import { laterCodecs, type Offer } from '../http/offer.js';
import { type RouteMatch, RouteTable } from './route-table.js';

/** Finds the route of a path below an interface url (Spec §5.3, §11.3). */
export class Routing {
  readonly #base: string;
  readonly #tables: ReadonlyMap<WireCodec, RouteTable>;
  readonly #heads: ReadonlySet<string>;

  constructor(codecs: readonly WireCodec[], basePath: string) {
    this.#base = basePath.replace(/(?<!\/)\/+$/, '');
    this.#tables = new Map(codecs.map((codec) => [codec, new RouteTable(codec)]));
    this.#heads = new Set([...this.#tables.values()].flatMap(({ heads }) => heads));
  }

  /**
   * The routes of a path in the requested version, or in a later one that answers, too. If the requested version is not
   * offered, routes of all versions count. Empty if there is no such path.
   * @throws A2AError INVALID_REQUEST for a path that cannot be decoded, VERSION_NOT_SUPPORTED for a path of another
   * version.
   */
  find(
    path: string,
    offer: Pick<Offer, 'codecs' | 'strictVersions'>,
    asked: WireCodec | undefined,
  ): readonly RouteMatch[] {
    if (!path.startsWith(`${this.#base}/`)) return [];
    const segments = decode(path.slice(this.#base.length + 1));
    if (asked === undefined) return this.#firstMatch(this.#tables.keys(), segments);
    const matches = this.#match(asked, segments);
    if (matches.length > 0 || offer.codecs.size === 1) return matches;
    const found = this.#firstMatch(laterCodecs(offer, asked), segments);
    const [other] = found.length > 0 ? [] : this.#firstMatch(offer.codecs.values(), segments);
    if (other === undefined) return found;
    throw new VersionNotSupportedError(asked.version, [other.codec.version]);
  }

  #firstMatch(codecs: Iterable<WireCodec>, segments: readonly string[]): readonly RouteMatch[] {
    for (const codec of codecs) {
      const matches = this.#match(codec, segments);
      if (matches.length > 0) return matches;
    }
    return [];
  }

  #match(codec: WireCodec, segments: readonly string[]): readonly RouteMatch[] {
    const table = this.#tables.get(codec);
    if (table === undefined) return [];
    const matches = table.match(segments);
    if (matches.length > 0 || isLegacy(codec.version)) return matches;
    const [tenant, ...rest] = segments;
    if (tenant === undefined || tenant === '' || this.#heads.has(tenant)) return [];
    return table.match(rest, tenant);
  }
}

/** Decodes after the split, so that an encoded slash stays inside its segment. */
function decode(path: string): readonly string[] {
  const segments = path.split('/');
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    throw new A2AError('INVALID_REQUEST', 'The path is not validly percent-encoded');
  }
}
