import { keptResults } from '../../runtime/kept-results.js';

/** A coding of a body. */
export type ContentEncoding = 'br' | 'gzip';

const MOST_KNOWN = 100;

/** Chooses an offered coding by `Accept-Encoding`. Of equal ones it takes the earlier (RFC 9110 §12.5.3). */
export class EncodingChoice {
  readonly #offered: readonly ContentEncoding[];
  /** Clients repeat the same few headers. */
  readonly #chosen = keptResults((header) => this.#choose(header), MOST_KNOWN);

  constructor(offered: readonly ContentEncoding[]) {
    this.#offered = offered;
  }

  /** The coding for a header; `undefined`: none. */
  of(header: string | undefined): ContentEncoding | undefined {
    if (header === undefined || header === '') return undefined;
    return this.#chosen(header);
  }

  #choose(header: string): ContentEncoding | undefined {
    const qualities = qualitiesOf(header);
    // Without a quality of its own, `identity` is the last choice.
    let best = qualities.get('identity') ?? 0;
    let choice: ContentEncoding | undefined;
    for (const encoding of this.#offered) {
      const quality = qualities.get(encoding) ?? qualities.get('*') ?? 0;
      if (quality <= 0 || quality < best || (quality === best && choice !== undefined)) continue;
      [best, choice] = [quality, encoding];
    }
    return choice;
  }
}

const CODING = /^([!#$%&'*+.^_`|~\w-]+)(?:\s*;\s*q=([01](?:\.\d{0,3})?))?$/i;

function qualitiesOf(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const text of header.split(',')) {
    const [, name, quality] = CODING.exec(text.trim()) ?? [];
    if (name === undefined) continue;
    const coding = name.toLowerCase();
    qualities.set(coding === 'x-gzip' ? 'gzip' : coding, quality === undefined ? 1 : Number(quality));
  }
  return qualities;
}
