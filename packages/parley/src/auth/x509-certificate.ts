import type { ClientCertificate } from './client-certificate.js';

/** The part of Node's `X509Certificate` that tells about a client. */
export interface X509Like {
  readonly fingerprint256: string;
  readonly validFrom: string;
  readonly validTo: string;
  readonly subjectAltName?: string | undefined;
  toLegacyObject(): { readonly subject?: Readonly<Record<string, unknown>> };
}

type X509Constructor = new (certificate: string | Uint8Array) => X509Like;
/** The part of `process` that loads a module of the host at once, without an import that bundlers see. */
type HostModules = { getBuiltinModule?(name: string): { readonly X509Certificate?: X509Constructor } | undefined };

/** The parser of certificates of this host; `undefined` if it has none. */
export function x509Parser(): ((certificate: string | Uint8Array) => X509Like) | undefined {
  const host = (globalThis as { process?: HostModules }).process;
  const Certificate = host?.getBuiltinModule?.('node:crypto')?.X509Certificate;
  return Certificate && ((certificate) => new Certificate(certificate));
}

/** A parsed certificate as authenticators see it. `problem` says why it is not accepted. */
export function clientCertificateOf(x509: X509Like, problem?: string): ClientCertificate {
  const names = alternativeNames(x509.subjectAltName ?? '');
  const valuesOf = (kind: string) => names.flatMap(([one, value]) => (one === kind ? [value] : []));
  return {
    ...(problem !== undefined && { problem }),
    subject: subjectOf(x509.toLegacyObject().subject ?? {}),
    dnsNames: valuesOf('DNS'),
    uris: valuesOf('URI'),
    emails: valuesOf('email'),
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
    startsAt: Date.parse(x509.validFrom),
    expiresAt: Date.parse(x509.validTo),
  };
}

function subjectOf(subject: Readonly<Record<string, unknown>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(subject).map(([name, value]) => [name, [value].flat().map(String)]));
}

/**
 * The alternative names as Node writes them: `DNS:a.example, URI:"a, b"`. It quotes a value as JSON if the value could
 * pass for two names.
 */
function alternativeNames(text: string): readonly (readonly [kind: string, value: string])[] {
  const names: (readonly [string, string])[] = [];
  let at = 0;
  while (at < text.length) {
    const colon = text.indexOf(':', at);
    if (colon < 0) break;
    const isQuoted = text[colon + 1] === '"';
    const end = isQuoted ? quoteEnd(text, colon + 1) : commaOrEnd(text, colon);
    const value = text.slice(colon + 1, end);
    names.push([text.slice(at, colon), isQuoted ? unquote(value) : value]);
    at = end + 2;
  }
  return names;
}

function commaOrEnd(text: string, from: number): number {
  const comma = text.indexOf(', ', from);
  return comma < 0 ? text.length : comma;
}

/** The place after the quote that ends a quoted value. */
function quoteEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function unquote(value: string): string {
  try {
    return String(JSON.parse(value));
  } catch {
    // A value that no rule can match.
    return '';
  }
}
