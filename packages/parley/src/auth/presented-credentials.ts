import type { ClientGroups } from '../net/client-address.js';
import type { Credentials } from './authenticator.js';
import type { ClientCertificate } from './client-certificate.js';
import { isAttached, isFromOtherSite, SAFE_METHODS } from './cross-site.js';
import { withoutQuoted } from './quoted-text.js';

/** A request, as far as it can carry credentials. */
interface CredentialSource extends Credentials {
  readonly method: string;
  /** The number of lines in which a header came. Absent: the host does not know it. */
  headerLines?(name: string): number;
  /** The request that opened the connection, if headers are chosen within a session. */
  readonly upgrade?: CredentialSource | undefined;
}

/** Basic and Bearer have no commas of their own. */
const COMMA_IN_TOKEN = /^(?:basic|bearer)\s[^,]*,/i;
/** A scheme and its credential after a comma. */
const SECOND_SCHEME = /,\s*[a-z][\w-]*\s+[^\s,=]/i;

/** The credentials that a browser sends by itself for the page of any site: two headers, or a certificate. */
const ATTACHED = ['authorization', 'cookie', 'certificate'] as const;
/** Headers that a browser or a proxy adds by itself. They do not show that a page could choose its headers. */
const BY_ITSELF =
  /^(?:accept|accept-.*|content-.*|cookie|forwarded|host|origin|referer|sec-.*|traceparent|user-agent|via|x-(?:forwarded-.*|real-ip|request-id))$/;

const NONE: readonly string[] = Object.freeze([]);

/** Headers that tell the page of a request. */
const OF_PAGES = /^(?:host|origin|sec-.*)$/;

/** The credentials of one request. It notes the headers that the authenticator reads. */
export class PresentedCredentials implements Credentials {
  readonly #source: CredentialSource;
  readonly #groupOf: ClientGroups | undefined;
  /** True if a credential of the connection was read: its certificate, or a certificate header of a proxy. */
  #isConnectionRead = false;
  #ofProxies = NONE;
  /** The first header that was read and came twice. */
  repeated: string | undefined;
  /** The headers that were read, without repeats: the answer depends on them. */
  read: readonly string[] = NONE;

  constructor(source: CredentialSource, groupOf?: ClientGroups) {
    this.#source = source;
    this.#groupOf = groupOf;
  }

  get method(): string {
    return this.#source.method;
  }

  get query(): string {
    return this.#source.query;
  }

  get peer(): string | undefined {
    return this.#source.peer;
  }

  get connection(): object | undefined {
    return this.#source.connection;
  }

  /** Read only by slow schemes. It does not count as a header that was read: no answer depends on it. */
  get clientGroup(): string | undefined {
    return this.#groupOf?.(this.#source);
  }

  get clientCertificate(): ClientCertificate | undefined {
    const { clientCertificate } = this.#source;
    if (clientCertificate !== undefined) this.#isConnectionRead = true;
    return clientCertificate;
  }

  header(name: string, source: CredentialSource = this.#source): string | undefined {
    const value = source.header(name);
    // One header is read in most requests, so no growing array is allocated for it.
    if (this.read === NONE) this.read = [name];
    else if (!this.read.includes(name)) this.read = [...this.read, name];
    if (value !== undefined && isRepeated(source, name, value)) this.repeated ??= name;
    return value;
  }

  proxyHeader(name: string): string | undefined {
    if (!this.#ofProxies.includes(name)) this.#ofProxies = [...this.#ofProxies, name];
    const { upgrade } = this.#source;
    const value = this.header(name, upgrade);
    // In a session, a header of the opening request may come from the proxy, such as the certificate.
    if (upgrade !== undefined && value !== undefined && !OF_PAGES.test(name)) this.#isConnectionRead = true;
    return value;
  }

  /**
   * True if a credential that was read may come from a browser on behalf of another site's page: a cookie, HTTP Basic,
   * or a certificate. Only requests that may change something count. Such a page can add no other header that was read,
   * unless CORS allows it. Callers without a browser send neither `Sec-Fetch-Site` nor `Origin`, and need one of the
   * two only if they send a cookie.
   */
  get isCrossSite(): boolean {
    if (SAFE_METHODS.includes(this.method)) return false;
    const attached = ATTACHED.filter((credential) => this.#isAttached(credential));
    return attached.some((credential) => this.#isOfOtherSite(credential));
  }

  /** True if a credential was read that a browser may have sent by itself. */
  #isAttached(credential: (typeof ATTACHED)[number]): boolean {
    if (credential === 'certificate') return this.#isConnectionRead;
    if (!this.read.includes(credential)) return false;
    const value = this.#source.header(credential);
    return value !== undefined && (credential === 'cookie' || isAttached(value));
  }

  #isOfOtherSite(credential: (typeof ATTACHED)[number]): boolean {
    const { upgrade } = this.#source;
    // The certificate of a session came with the request that opened it, and the session cannot change it.
    if (credential === 'certificate' && upgrade !== undefined)
      return isFromOtherSite((name) => upgrade.header(name)) === true;
    // The page of a session can set headers without CORS.
    if (upgrade === undefined && this.read.some((name) => this.#isChosen(name))) return false;
    return isFromOtherSite((name) => this.#source.header(name)) ?? credential === 'cookie';
  }

  /** True for a header that its sender must have chosen. */
  #isChosen(name: string): boolean {
    if (BY_ITSELF.test(name) || this.#ofProxies.includes(name)) return false;
    const value = this.#source.header(name);
    return value !== undefined && !(name === 'authorization' && isAttached(value));
  }
}

/** True if a host has joined two lines of `Authorization` with a comma. */
function isJoined(value: string): boolean {
  if (!value.includes(',')) return false;
  // Quoted texts may have commas, such as names in Digest. One without an end hides no line.
  const unquoted = withoutQuoted(value);
  return COMMA_IN_TOKEN.test(value) || SECOND_SCHEME.test(unquoted);
}

/** True if a header came in several lines. */
function isRepeated(source: CredentialSource, name: string, value: string): boolean {
  // HTTP/2 may split this header (RFC 9113 §8.2.3). Its reader refuses a name that comes twice.
  if (name === 'cookie') return false;
  const lines = source.headerLines?.(name);
  return lines === undefined ? name === 'authorization' && isJoined(value) : lines > 1;
}
