/** Number of leading bytes that are enough to detect a type. */
export const SNIFFED_BYTES = 512;

interface Signature {
  readonly type: string;
  /** Characters from `at` (default 0) on; `?` stands for any byte. */
  readonly bytes: string;
  readonly at?: number;
}

const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { type: 'image/gif', bytes: 'GIF87a' },
  { type: 'image/gif', bytes: 'GIF89a' },
  { type: 'image/webp', bytes: 'RIFF????WEBP' },
  { type: 'image/bmp', bytes: 'BM????\0\0\0\0' },
  { type: 'image/tiff', bytes: 'II*\0' },
  { type: 'image/tiff', bytes: 'MM\0*' },
  { type: 'image/x-icon', bytes: '\0\0\x01\0' },
  { type: 'image/avif', bytes: 'ftypavif', at: 4 },
  { type: 'image/heic', bytes: 'ftypheic', at: 4 },
  { type: 'audio/wav', bytes: 'RIFF????WAVE' },
  { type: 'audio/mpeg', bytes: 'ID3' },
  { type: 'audio/flac', bytes: 'fLaC' },
  { type: 'application/ogg', bytes: 'OggS' },
  { type: 'video/mp4', bytes: 'ftyp', at: 4 },
  { type: 'video/webm', bytes: '\x1aE\xdf\xa3' },
  { type: 'application/pdf', bytes: '%PDF-' },
  { type: 'application/zip', bytes: 'PK\x03\x04' },
  { type: 'application/zip', bytes: 'PK\x05\x06' },
  { type: 'application/gzip', bytes: '\x1f\x8b\x08' },
  { type: 'application/wasm', bytes: '\0asm' },
  { type: 'application/x-executable', bytes: '\x7fELF' },
  { type: 'application/x-msdownload', bytes: 'MZ' },
  { type: 'text/x-script', bytes: '#!' },
];

/** Types with signatures in this table: their files must have them. */
const TOLD_BY_BYTES: ReadonlySet<string> = new Set(
  SIGNATURES.map(({ type }) => type).filter((type) => type !== 'text/x-script'),
);

/** Types whose files begin like those of another type. */
const CONTAINERS: Readonly<Record<string, readonly string[]>> = {
  'application/zip': [
    'application/epub+zip',
    'application/java-archive',
    'application/vnd.oasis.opendocument.text',
    'application/vnd.oasis.opendocument.spreadsheet',
    'application/vnd.oasis.opendocument.presentation',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'application/x-zip-compressed',
  ],
  'application/gzip': ['application/x-gzip', 'application/x-tar', 'application/x-compressed-tar'],
  'application/ogg': ['audio/ogg', 'audio/opus', 'video/ogg'],
  'application/x-executable': ['application/octet-stream', 'application/x-sharedlib', 'application/x-elf'],
  'application/x-msdownload': ['application/vnd.microsoft.portable-executable', 'application/x-dosexec'],
  'audio/wav': ['audio/wave', 'audio/x-wav', 'audio/vnd.wave'],
  'audio/mpeg': ['audio/mp3'],
  'image/jpeg': ['image/jpg'],
  'image/x-icon': ['image/vnd.microsoft.icon'],
  'image/heic': ['image/heif'],
  'video/mp4': ['audio/mp4', 'video/quicktime', 'audio/x-m4a', 'video/3gpp', 'image/heic', 'image/heif', 'image/avif'],
  'video/webm': ['audio/webm', 'video/x-matroska', 'audio/x-matroska'],
  'text/xml': ['application/xml'],
};

/** The start of a text that a browser treats as a page, an image or a script. */
const ACTIVE_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^<svg[\s>]/, 'image/svg+xml'],
  [/^<\?xml\b[\s\S]*?<svg[\s>]/, 'image/svg+xml'],
  [/^<\?xml\b[\s\S]*?<html[\s>]/, 'application/xhtml+xml'],
  [/^<\?xml\b/, 'text/xml'],
  [/^<!doctype svg\b/, 'image/svg+xml'],
  [
    /^(?:<!doctype html|<(?:html|head|body|script|iframe|title|style|table|div|font|img|a|br|p|h1|b)[\s/>])/,
    'text/html',
  ],
];

/**
 * The type that the first bytes of a file show; `undefined` if they show none. Text is detected only if a browser could
 * execute it.
 */
export function sniffedType(head: Uint8Array): string | undefined {
  const text = String.fromCharCode(...head.subarray(0, SNIFFED_BYTES));
  const found = SIGNATURES.find(({ bytes, at = 0 }) => hasBytes(text, bytes, at));
  if (found !== undefined) return found.type;
  const start = withoutComments(plainText(head, text)).toLowerCase();
  return ACTIVE_TEXTS.find(([form]) => form.test(start))?.[1];
}

/** True if bytes of the type `declared` are detected as `sniffed`. */
export function isShownAs(declared: string, sniffed: string): boolean {
  if (sniffed === declared || CONTAINERS[sniffed]?.includes(declared) === true) return true;
  // A long comment may hide the first element.
  return sniffed === 'text/xml' && declared.endsWith('+xml');
}

/** True if bytes that show `sniffed` may be a file of the type `declared`. */
export function fits(declared: string, sniffed: string | undefined): boolean {
  if (sniffed !== undefined && isShownAs(declared, sniffed)) return true;
  if (TOLD_BY_BYTES.has(declared)) return Object.hasOwn(WITHOUT_SIGNATURE, declared) && sniffed === undefined;
  // Text may begin with anything. Images, audio and video may not.
  return sniffed === undefined || !/^(?:image|audio|video|font)\//.test(declared);
}

/** Types of which many files begin without the signature. */
const WITHOUT_SIGNATURE: Readonly<Record<string, true>> = { 'audio/mpeg': true };

/** True if a browser could run a file of this type. */
export function isActiveType(type: string): boolean {
  return (
    /^(?:text\/html|text\/xml|application\/xml|text\/xsl|text\/x-script|multipart\/)/.test(type) ||
    /\+xml$/.test(type) ||
    /(?:java|ecma|js|live)script/.test(type) ||
    /^application\/(?:x-shockwave-flash|hta|x-httpd-php|wasm)$/.test(type)
  );
}

function hasBytes(text: string, bytes: string, at: number): boolean {
  if (text.length < at + bytes.length) return false;
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] !== '?' && bytes[index] !== text[at + index]) return false;
  }
  return true;
}

/** Decodes the start of a text in the encoding that a browser would guess. */
function plainText(head: Uint8Array, text: string): string {
  if (text.startsWith('\xef\xbb\xbf')) return text.slice(3);
  if (text.startsWith('\xff\xfe') || text.startsWith('\xfe\xff')) {
    const encoding = text.startsWith('\xff\xfe') ? 'utf-16le' : 'utf-16be';
    return new TextDecoder(encoding).decode(head.subarray(2, SNIFFED_BYTES));
  }
  return text;
}

/** The text without white space and comments before its first element. */
function withoutComments(text: string): string {
  let rest = text.replace(/^[\s\0]+/, '');
  while (rest.startsWith('<!--')) {
    const end = rest.indexOf('-->');
    // An unclosed comment may hide a page.
    if (end < 0) return '<html>';
    rest = rest.slice(end + 3).replace(/^[\s\0]+/, '');
  }
  return rest;
}
