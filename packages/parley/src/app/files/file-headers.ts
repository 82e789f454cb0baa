import type { FileRange, StoredFile } from '../../files/file-store.js';
import { safeFilename } from '../../files/filename.js';
import { servedType } from '../../files/media-type-rules.js';

/** Reads a header of a request by its lower-case name. */
type Header = (name: string) => string | undefined;

/** Browsers neither guess the type, nor run or show anything of a file. */
const INERT = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** The most bytes of a header that are read. */
const MOST_HEADER = 4096;

/** The digest as it is in `Content-Digest`, `Repr-Digest` and JSON (RFC 9530 §2). */
export function digestField({ digest }: Pick<StoredFile, 'digest'>): string {
  return `sha-256=:${digest}:`;
}

/** The SHA-256 of a digest header, in base64; `undefined` if there is none, or it is in no form of RFC 9530. */
export function readDigest(field: string | undefined): string | undefined {
  return /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):\s*(?:,|$)/.exec(field?.slice(0, MOST_HEADER) ?? '')?.[1];
}

/** The name in a `Content-Disposition` (RFC 6266 §4.1), made safe. */
export function readFilename(disposition: string | undefined): string | undefined {
  const text = disposition?.slice(0, MOST_HEADER) ?? '';
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(text)?.[1];
  const name = extended === undefined ? undefined : decodeText(extended);
  if (name !== undefined) return safeFilename(name);
  return safeFilename(quotedName(text) ?? /;\s*filename\s*=\s*([^;\s"]+)/i.exec(text)?.[1]);
}

/** The name between the quotes after `filename=`, without the signs that escape others. */
function quotedName(text: string): string | undefined {
  const mark = 'filename="';
  const start = text.toLowerCase().indexOf(mark);
  if (start < 0) return undefined;
  let name = '';
  for (let at = start + mark.length; at < text.length && text[at] !== '"'; at++) {
    if (text[at] === '\\') at += 1;
    name += text[at] ?? '';
  }
  return name;
}

/** The entity tag of a file. Its bytes never change, so that the tag is strong. */
export function entityTag({ digest }: StoredFile): string {
  return `"${digest}"`;
}

/** The headers of a file, without those of its length. */
export function fileHeaders(file: StoredFile): Readonly<Record<string, string>> {
  return {
    ...INERT,
    'content-type': servedType(file.mediaType),
    'content-disposition': disposition(file.filename),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    etag: entityTag(file),
    'last-modified': new Date(file.createdAt).toUTCString(),
    'repr-digest': digestField(file),
  };
}

/** The part of a file that a request asks for. */
type RangeDecision =
  | { readonly kind: 'whole' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'part'; readonly range: FileRange }
  | { readonly kind: 'outside' };

/** Decides by the conditions and the range of a request, in the order of RFC 9110 §13.2.2. */
export function decideRange(header: Header, file: StoredFile): RangeDecision {
  const tag = entityTag(file);
  const ifMatch = header('if-match');
  if (ifMatch !== undefined && !lists(ifMatch, tag)) return { kind: 'changed' };
  const ifNoneMatch = header('if-none-match');
  if (ifNoneMatch !== undefined) {
    if (lists(ifNoneMatch.replaceAll('W/', ''), tag)) return { kind: 'unchanged' };
  } else if (isNotAfter(file, header('if-modified-since'))) return { kind: 'unchanged' };
  const range = header('range');
  if (range === undefined || !isCurrent(header('if-range'), file)) return { kind: 'whole' };
  return rangeOf(range, file.size);
}

/** One range of bytes (RFC 9110 §14.1.2). Several ranges and other units are answered with the whole file. */
function rangeOf(text: string, size: number): RangeDecision {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text.trim()) ?? [];
  if (first === '' && last === '') return { kind: 'whole' };
  if (first === '') {
    const start = Math.max(size - Number(last), 0);
    return start === size ? { kind: 'outside' } : { kind: 'part', range: { start, end: size } };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  if (start >= size) return { kind: 'outside' };
  return { kind: 'part', range: { start, end: last === '' ? size : Math.min(Number(last) + 1, size) } };
}

function isCurrent(ifRange: string | undefined, file: StoredFile): boolean {
  if (ifRange === undefined) return true;
  // A date is weak (RFC 9110 §13.1.5): only the exact one counts.
  return ifRange.startsWith('"') ? ifRange === entityTag(file) : Date.parse(ifRange) === seconds(file.createdAt);
}

function isNotAfter(file: StoredFile, date: string | undefined): boolean {
  return date !== undefined && seconds(file.createdAt) <= Date.parse(date);
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function lists(field: string, tag: string): boolean {
  return (
    field.trim() === '*' ||
    field
      .slice(0, MOST_HEADER)
      .split(',')
      .some((one) => one.trim() === tag)
  );
}

function disposition(filename: string | undefined): string {
  if (filename === undefined) return 'attachment';
  const plain = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  if (plain === filename) return `attachment; filename="${filename}"`;
  const extended = encodeURIComponent(filename).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`;
}

function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
