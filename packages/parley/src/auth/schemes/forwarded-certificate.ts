import { OptionsError } from '../../errors/options-error.js';
import { isBase64 } from '../../model/base64.js';
import { type TrustedProxies, trustedProxies } from '../../net/trusted-proxy.js';
import { nonEmpty, type OptionSchemas, optionObject, texts } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { type Credentials, openingHeaders } from '../authenticator.js';
import type { ClientCertificate } from '../client-certificate.js';
import { clientCertificateOf, type X509Like, x509Parser } from '../x509-certificate.js';

/** The forms of the header in which a proxy tells the certificate of the client. */
export const CERTIFICATE_FORMATS = ['envoy', 'nginx', 'rfc9440'] as const;

/** The way in which a proxy that ends TLS tells the certificate of the client. */
export interface ForwardedCertificates {
  /** Addresses or ranges of the proxies, or `loopback`. The header of any other peer is ignored. */
  readonly proxies: readonly string[];
  /**
   * The form of the header. `envoy`: X-Forwarded-Client-Cert. `nginx`: `$ssl_client_escaped_cert`, PEM that is
   * percent-encoded. `rfc9440`: Client-Cert, DER as a byte sequence.
   */
  readonly format: 'envoy' | 'nginx' | 'rfc9440';
  /** Default: `X-Forwarded-Client-Cert`, `X-Client-Cert` or `Client-Cert`, by the format. */
  readonly header?: string;
  /**
   * A header in which the proxy says `SUCCESS` for a certificate that it has verified, as `$ssl_client_verify` of nginx
   * does. Default: `X-Client-Verify` for nginx. The other proxies only send verified certificates.
   */
  readonly verifyHeader?: string;
}

const schemas: OptionSchemas<ForwardedCertificates> = {
  proxies: texts,
  format: Type.String({ enum: CERTIFICATE_FORMATS }),
  header: Type.Optional(nonEmpty),
  verifyHeader: Type.Optional(nonEmpty),
};

/** The schema of ForwardedCertificates. */
export const forwardedSchema = optionObject(schemas);

/** Reads the certificate that a trusted proxy tells; `undefined` if no trusted proxy tells one. */
export type ForwardedCertificate = (credentials: Credentials) => ClientCertificate | undefined;

const HEADERS = { envoy: 'x-forwarded-client-cert', nginx: 'x-client-cert', rfc9440: 'client-cert' } as const;
const LONGEST = 65_536;
const MALFORMED: ClientCertificate = Object.freeze({
  problem: 'malformed',
  subject: {},
  dnsNames: [],
  uris: [],
  emails: [],
});

/** @throws OptionsError for wrong proxies, and on hosts that cannot read the format. */
export function forwardedCertificate(options: ForwardedCertificates): ForwardedCertificate {
  const { format } = options;
  const isTrusted: TrustedProxies = trustedProxies(options.proxies);
  const header = (options.header ?? HEADERS[format]).toLowerCase();
  const verifyHeader = (options.verifyHeader ?? (format === 'nginx' ? 'x-client-verify' : undefined))?.toLowerCase();
  const parse = x509Parser();
  if (format !== 'envoy' && parse === undefined)
    throw new OptionsError('ClientCertificates', [`this host cannot read certificates. Use the format "envoy"`]);
  const read = (text: string): ClientCertificate => {
    if (text.length > LONGEST) return MALFORMED;
    try {
      if (format === 'envoy') return readEnvoy(text);
      const x509 = parse === undefined ? undefined : readX509(text, { format, parse });
      return x509 === undefined ? MALFORMED : clientCertificateOf(x509);
    } catch {
      return MALFORMED;
    }
  };
  return (credentials) => {
    if (!isTrusted(credentials.peer)) return undefined;
    const written = openingHeaders(credentials);
    const text = written(header)?.trim();
    if (text === undefined || text === '') return undefined;
    const verified = verifyHeader === undefined ? 'SUCCESS' : written(verifyHeader);
    return verified === 'SUCCESS' ? read(text) : { ...read(text), problem: verified ?? 'not verified' };
  };
}

function readX509(
  text: string,
  { format, parse }: { readonly format: string; readonly parse: (certificate: string | Uint8Array) => X509Like },
): X509Like | undefined {
  if (format === 'nginx') {
    const pem = decodeURIComponent(text);
    // The parser also accepts leading bytes, and several certificates.
    return pem.startsWith('-----BEGIN CERTIFICATE-----') ? parse(pem) : undefined;
  }
  const base64 = text.startsWith(':') && text.endsWith(':') ? text.slice(1, -1) : '';
  if (base64 === '' || !isBase64(base64)) return undefined;
  return parse(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}

/** A member of an element: its value is quoted, or free of quotes and separators. */
const MEMBER = /^[a-z]+=(?:"(?:[^"\\]|\\.)*"|[^",;]*)$/i;

/**
 * Reads the element that the trusted proxy has set. Envoy does not escape names, so a name may look like another member
 * or element, or like one that the client sent. An ambiguous header is malformed.
 */
function readEnvoy(text: string): ClientCertificate {
  const members = split(text, ';');
  if (!members.every((member) => MEMBER.test(member))) return MALFORMED;
  const pairs = members.map((pair) => {
    const mark = pair.indexOf('=');
    return [pair.slice(0, mark).toLowerCase(), withoutQuotes(pair.slice(mark + 1))] as const;
  });
  const valuesOf = (name: string) => pairs.flatMap(([one, value]) => (one === name && value !== '' ? [value] : []));
  if (['hash', 'subject', 'uri'].some((name) => valuesOf(name).length > 1)) return MALFORMED;
  const hash = valuesOf('hash')[0]?.toLowerCase();
  const subject = readSubject(valuesOf('subject')[0] ?? '');
  const certificate = { subject, dnsNames: valuesOf('dns'), uris: valuesOf('uri'), emails: [] };
  if (hash === undefined || !/^[0-9a-f]{64}$/.test(hash)) return MALFORMED;
  return { ...certificate, fingerprint: hash };
}

/** Splits a text outside of its double quotes. */
function split(text: string, separator: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === separator && !isQuoted) {
      pieces.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...pieces, text.slice(start)];
}

/** Envoy puts quotes around a distinguished name, and changes nothing in it. */
function withoutQuotes(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
}

/** The attributes of a distinguished name such as `CN=ada,O=Example` (RFC 4514). */
function readSubject(text: string): Readonly<Record<string, readonly string[]>> {
  const subject = new Map<string, string[]>();
  for (const pair of split(text, ',').flatMap((one) => split(one, '+'))) {
    const mark = pair.indexOf('=');
    if (mark < 0) continue;
    const name = pair.slice(0, mark).trim();
    const value = pair.slice(mark + 1).replaceAll(/\\([^0-9A-Fa-f])/g, '$1');
    subject.set(name, [...(subject.get(name) ?? []), value]);
  }
  return Object.fromEntries(subject);
}
