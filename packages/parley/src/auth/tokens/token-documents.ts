import { isObject } from '../../model/json.js';
import { boundedFetch, type DocumentFetch } from '../../net/bounded-fetch.js';
import { isLoopback } from '../../net/loopback.js';
import type { Clock } from '../../runtime/clock.js';

/** Reads JSON documents of authorization servers: key sets and metadata. */
interface TokenDocumentsOptions {
  readonly fetch: DocumentFetch;
  readonly clock: Clock;
  /** True if documents may come without TLS, also from other machines. */
  readonly plainHttp: boolean;
}

/** Limits of a document. The largest providers have 30 kB of keys. */
const DOCUMENT = { bytes: 256 * 1024, ms: 5_000 };

/** The members of an authorization server's metadata that servers need (RFC 8414 §2). */
interface ServerMetadata {
  readonly jwks_uri?: unknown;
  readonly introspection_endpoint?: unknown;
}

/** Reads documents by URL, without redirects. A document must be complete within 5 s and 256 KiB. */
export class TokenDocuments {
  readonly #send: ReturnType<typeof boundedFetch>;
  readonly #plainHttp: boolean;

  constructor({ fetch, clock, plainHttp }: TokenDocumentsOptions) {
    this.#send = boundedFetch(fetch, { clock, ...DOCUMENT });
    this.#plainHttp = plainHttp;
  }

  /** @throws Error with a reason for the log. */
  async read(url: string): Promise<unknown> {
    const response = await this.#answer(url);
    if (response.status !== 200) throw new Error(`${url} answers with status ${response.status}`);
    return await response.json();
  }

  /**
   * Reads the metadata of an issuer. The first document that exists decides.
   * @throws Error with a reason for the log, also if the document names another issuer.
   */
  async metadata(issuer: string, urls: readonly string[]): Promise<ServerMetadata> {
    for (const url of urls) {
      const response = await this.#answer(url);
      if (response.status === 404) continue;
      if (response.status !== 200) throw new Error(`${url} answers with status ${response.status}`);
      const document: unknown = await response.json();
      // OpenID Connect Discovery §4.3: exactly the same text. Otherwise another tenant could answer.
      if (isObject(document) && document.issuer === issuer) return document;
      throw new Error(`${url} does not name the issuer ${issuer}`);
    }
    throw new Error(`${issuer} has no discovery document`);
  }

  /** The text of a url in a document. @throws Error if there is none, or if it has no TLS and must have it. */
  endpoint(value: unknown, name: string): string {
    if (typeof value !== 'string') throw new Error(`the discovery document has no ${name}`);
    const fault = urlFault(value, this.#plainHttp);
    if (fault !== undefined) throw new Error(`${name} ${fault}`);
    return value;
  }

  async #answer(url: string): Promise<Response> {
    return await this.#send(url, { redirect: 'manual', headers: { accept: 'application/json' } });
  }
}

/** The location of the OpenID Connect metadata of an issuer (OpenID Connect Discovery §4). */
export function openIdMetadataUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** The location of the OAuth metadata of an issuer (RFC 8414 §3.1). */
export function oauthMetadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`;
}

/** The problem of a url for keys, metadata or tokens; undefined if there is none. */
export function urlFault(text: string, plainHttp: boolean): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an https url';
  if (url.username !== '' || url.password !== '') return 'must have no user or password';
  const isAllowed = url.protocol === 'https:' || plainHttp || isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  return isAllowed ? undefined : 'must be an https url, unless plainHttp is true';
}
