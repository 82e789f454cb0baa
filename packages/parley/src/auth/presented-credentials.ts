import type { ClientGroups } from '../net/client-address.js';
import type { Credentials } from './authenticator.js';
import type { ClientCertificate } from './client-certificate.js';

/** A request, as far as it can carry credentials. */
export interface CredentialSource extends Credentials {
  readonly method: string;
  /** The number of lines in which a header came. Absent: the host does not know it. */
  headerLines?(name: string): number;
}

/** Two lines of `Authorization` that a host has joined by a comma. Basic and Bearer have no commas of their own. */
const JOINED = /^(?:basic|bearer)\s[^,]*,|,\s*[A-Za-z][\w-]*\s+[^\s,=]/i;

const READING = ['GET', 'HEAD', 'OPTIONS'];

/** The credentials of one request. It notes the headers that the authenticator reads. */
export class PresentedCredentials implements Credentials {
  readonly #source: CredentialSource;
  readonly #groupOf: ClientGroups | undefined;
  /** The first header that was read and came twice. */
  repeated: string | undefined;
  /** The headers that were read, without repeats: the answer depends on them. */
  readonly read: string[] = [];

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

  /** Read only by slow schemes. It does not count as a header that was read: no answer depends on it. */
  get clientGroup(): string | undefined {
    return this.#groupOf?.(this.#source);
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.#source.clientCertificate;
  }

  header(name: string): string | undefined {
    const value = this.#source.header(name);
    if (!this.read.includes(name)) {
      this.read.push(name);
      if (value !== undefined && this.#isRepeated(name, value)) this.repeated ??= name;
    }
    return value;
  }

  /**
   * True if a page of another site may have made a browser send a cookie that was read, with a request that may change
   * something. No such page can add another header that was read, unless CORS lets it.
   */
  get isCrossSite(): boolean {
    const { method, read } = this;
    if (READING.includes(method) || !read.includes('cookie') || this.#source.header('cookie') === undefined)
      return false;
    if (read.some((name) => name !== 'cookie' && this.#source.header(name) !== undefined)) return false;
    const site = this.#source.header('sec-fetch-site');
    if (site !== undefined) return site !== 'same-origin' && site !== 'none';
    const origin = this.#source.header('origin');
    return origin === undefined || origin.replace(/^https?:\/\//, '') !== this.#source.header('host');
  }

  #isRepeated(name: string, value: string): boolean {
    // HTTP/2 may split this header (RFC 9113 §8.2.3). Its reader refuses a name that comes twice.
    if (name === 'cookie') return false;
    const lines = this.#source.headerLines?.(name);
    return lines === undefined ? name === 'authorization' && JOINED.test(value) : lines > 1;
  }
}
