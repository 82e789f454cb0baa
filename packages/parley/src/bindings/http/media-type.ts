/** The most ranges of an `Accept` header that are read; browsers send fewer than ten. */
const MOST_RANGES = 100;

/** Plain JSON. */
export const JSON_TYPE = 'application/json';
/** Server-sent events. */
export const EVENT_STREAM_TYPE = 'text/event-stream';

/** A content type without its parameters, in lower case; "" when there is none. */
export function essence(contentType: string | undefined): string {
  if (contentType === undefined) return '';
  if (contentType === JSON_TYPE) return JSON_TYPE;
  const end = contentType.indexOf(';');
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

/** True if an `Accept` header names the media type itself, without a wildcard or a quality of zero. */
export function names(accept: string | undefined, mediaType: string): boolean {
  if (accept === undefined) return false;
  if (accept === mediaType) return true;
  return accept
    .split(',', MOST_RANGES)
    .some((range) => essence(range) === mediaType && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range));
}

/** The offered media type that an `Accept` header prefers, the earlier of equal ones; `undefined` for none. */
export function preferredMediaType<T extends string>(accept: string | undefined, offered: readonly T[]): T | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0];
  const ranges = accept.split(',', MOST_RANGES).map(rangeOf);
  let best: T | undefined;
  let quality = 0;
  for (const type of offered) {
    const found = qualityOf(type, ranges);
    if (found > quality) [best, quality] = [type, found];
  }
  return best;
}

interface MediaRange {
  readonly name: string;
  readonly quality: number;
}

function rangeOf(text: string): MediaRange {
  const quality = /;\s*q=([01](?:\.\d{0,3})?)\s*(?:;|$)/i.exec(text)?.[1];
  return { name: essence(text), quality: quality === undefined ? 1 : Number(quality) };
}

/** The most specific range that matches counts (RFC 9110 §12.5.1). */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  for (const name of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const range = ranges.find((candidate) => candidate.name === name);
    if (range !== undefined) return range.quality;
  }
  return 0;
}
