import type { SecurityScheme } from 'parley-a2a';

/** A credential inside of a message, for bindings whose clients cannot set headers. */
export interface InBandCredential {
  /** The name of a scheme in the card. If none fits, the HTTP scheme, such as `bearer`. */
  readonly scheme: string;
  /** The token, the key, or the credentials of an HTTP scheme without its name. */
  readonly value: string;
}

/** The security schemes of a card by name. */
export type SchemesByName = Readonly<Record<string, SecurityScheme>>;

/** The headers and query parameters of a request. Names of headers are lower case. */
export interface RequestFields {
  readonly headers: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>> | undefined;
}

/** A request with a separate credential. */
interface SplitRequest {
  readonly credential: InBandCredential | undefined;
  /** Headers with a second credential. */
  readonly identity: Readonly<Record<string, string>>;
  /** The other headers. */
  readonly headers: Readonly<Record<string, string>>;
}

const AUTHORIZATION = 'authorization';
const HTTP_SCHEME = /^[A-Za-z][\w-]*$/;
const HTTP_CREDENTIAL = /^([^\s,]+) +(\S.*)$/;

/** Removes the credential from the headers and the query of a request, by the schemes of the card. */
export function splitCredential({ headers, query = {} }: RequestFields, schemes: SchemesByName = {}): SplitRequest {
  const { [AUTHORIZATION]: authorization, cookie: _, ...others }: Record<string, string> = headers;
  const identity: Record<string, string> = authorization === undefined ? {} : { [AUTHORIZATION]: authorization };
  const [, word = '', token = ''] = HTTP_CREDENTIAL.exec(authorization ?? '') ?? [];
  for (const [scheme, kind] of Object.entries(schemes)) {
    if (wordOf(kind) === word.toLowerCase())
      return { credential: { scheme, value: token }, identity: {}, headers: others };
    if (kind.apiKeySecurityScheme === undefined) continue;
    const { location, name } = kind.apiKeySecurityScheme;
    const header = name.toLowerCase();
    const value = location === 'query' ? query[name] : location === 'header' ? others[header] : undefined;
    if (value === undefined) continue;
    if (location === 'header') delete others[header];
    return { credential: { scheme, value }, identity, headers: others };
  }
  if (word === '') return { credential: undefined, identity, headers: others };
  return { credential: { scheme: word.toLowerCase(), value: token }, identity: {}, headers: others };
}

/**
 * Puts a credential into the headers or the query of a request, by the schemes of the card. `undefined` for a scheme
 * that the card does not have, and for certificates, which belong to connections.
 */
export function joinCredential(
  { scheme, value }: InBandCredential,
  schemes: SchemesByName = {},
): RequestFields | undefined {
  const named = Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined;
  if (named !== undefined && named.apiKeySecurityScheme !== undefined) {
    const { location, name } = named.apiKeySecurityScheme;
    if (location === 'query') return { headers: {}, query: { [name]: value } };
    return { headers: location === 'cookie' ? { cookie: `${name}=${value}` } : { [name.toLowerCase()]: value } };
  }
  const word = named === undefined ? scheme : wordOf(named);
  if (word === undefined || !HTTP_SCHEME.test(word)) return undefined;
  return { headers: { [AUTHORIZATION]: `${word.charAt(0).toUpperCase()}${word.slice(1)} ${value}` } };
}

/** The prefix of a credential of a scheme (RFC 9110 §11.4), in lower case. */
function wordOf(scheme: SecurityScheme): string | undefined {
  if (scheme.httpAuthSecurityScheme !== undefined) return scheme.httpAuthSecurityScheme.scheme.toLowerCase();
  return scheme.oauth2SecurityScheme !== undefined || scheme.openIdConnectSecurityScheme !== undefined
    ? 'bearer'
    : undefined;
}
