import { isBase64 } from '../../model/base64.js';

/** A name and a password of HTTP Basic. */
export interface BasicCredentials {
  readonly name: string;
  readonly password: string;
}

const BASIC = /^Basic(?: +|$)/i;
/** A name and a password with 1,024 characters each are shorter, in any script. */
const LONGEST = 12_288;
const CONTROL = /\p{Cc}/u;

/**
 * Reads `Authorization: Basic` (RFC 7617): base64 of UTF-8, the name before the first colon. Names and passwords are in
 * Normalization Form C.
 */
export function readBasicCredentials(header: string): BasicCredentials | 'another scheme' | 'malformed' {
  const scheme = BASIC.exec(header)?.[0];
  if (scheme === undefined) return 'another scheme';
  if (header.length > LONGEST) return 'malformed';
  const text = decode(header.slice(scheme.length).trimEnd());
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon < 0 || CONTROL.test(text)) return 'malformed';
  const normal = text.normalize('NFC');
  const end = normal.indexOf(':');
  return { name: normal.slice(0, end), password: normal.slice(end + 1) };
}

function decode(text: string): string | undefined {
  if (text === '' || !isBase64(text)) return undefined;
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
