import type { ClientCertificate } from 'parley-a2a/auth';
import { type DirectCall, InvalidParamsError, repeatedFieldError } from 'parley-a2a/binding-kit';
import type { ExchangeRequest, User } from 'parley-a2a/server';
import type { RequestFields } from './in-band-credential.js';

/** Characters of all service parameters of a grant, names included. */
const PARAMETERS_LENGTH = 8192;
const PARAMETER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const PRINTABLE = /^[\x20-\x7e]*$/;
/** Headers about the connection. They are read only from the upgrade request. */
const OF_UPGRADE = /^(?:host|origin|forwarded|via|user-agent|x-real-ip|x-forwarded-.*|sec-.*)$/;
/** Headers that web pages cannot set, which identify requests from pages. */
const OF_PAGES = /^(?:origin|sec-.*)$/;

/**
 * Reads service parameters. Names are case-insensitive (Spec §3.2.6).
 * @throws InvalidParamsError
 */
export function readParameters(given: unknown, field: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  if (given === undefined) return parameters;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid(field, 'must be an object of strings');
  let length = 0;
  for (const [written, value] of Object.entries(given)) {
    const name = written.toLowerCase();
    if (!PARAMETER_NAME.test(name)) throw invalid(field, 'has a name that is not valid');
    if (parameters.has(name)) throw repeatedFieldError(written);
    if (typeof value !== 'string' || !PRINTABLE.test(value)) throw invalid(field, 'must have printable ASCII values');
    length += name.length + value.length;
    if (length > PARAMETERS_LENGTH) throw invalid(field, `must have at most ${PARAMETERS_LENGTH} characters in all`);
    parameters.set(name, value);
  }
  return parameters;
}

function invalid(field: string, description: string): InvalidParamsError {
  return new InvalidParamsError([{ field, description }]);
}

/** The parts of a grant. */
interface GrantOptions {
  /** The request that opened the connection. */
  readonly upgrade: ExchangeRequest;
  readonly parameters: ReadonlyMap<string, string>;
  readonly tenant: string | undefined;
  readonly credential: RequestFields | undefined;
  /** Called once when the credential has ended. */
  readonly onEnd: (grant: Grant) => void;
}

/**
 * The rights of one principal on a connection, shared by all objects of one `authenticate`. It ends with the
 * credential.
 */
export class Grant {
  readonly tenant: string | undefined;
  readonly #options: GrantOptions;
  readonly #watchers = new Set<() => void>();
  #credential: RequestFields | undefined;
  #user: User | undefined;
  /** Watches the credential. Absent: it has no end. */
  #watch: ((ended: () => void) => () => void) | undefined;
  #stopWatching: (() => void) | undefined;
  #holders = 0;
  #isClosed = false;
  isEnded = false;

  constructor(options: GrantOptions) {
    this.#options = options;
    this.tenant = options.tenant;
    this.#credential = options.credential;
  }

  /** The user of the grant. Absent: the principal is anonymous. */
  get userId(): string | undefined {
    return this.#user?.id;
  }

  /** True if a user is not the principal of the grant. */
  isOther(user: User | undefined): boolean {
    return user?.id !== this.#user?.id;
  }

  /** True while an object, a feed or a call uses the grant. */
  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** When the credential expires, in ms since the epoch. */
  get expiresAt(): number | undefined {
    return this.#user?.expiresAt;
  }

  /** Takes the credential of an admitted request. Its end is watched while the grant is in use. */
  admit(request: GrantedRequest, credential: RequestFields | undefined): void {
    this.#stop();
    this.#credential = credential;
    this.#user = request.user;
    this.#watch = request.credentialEnd;
    this.#start();
  }

  /** Makes a request of this principal. Without a call it asks the gate whether the principal is admitted. */
  request(options: GrantedRequestOptions): GrantedRequest {
    const { upgrade, parameters } = this.#options;
    return new GrantedRequest({ credential: this.#credential, ...options, upgrade, session: parameters, grant: this });
  }

  /** Calls `ended` when the grant ends, or at once if it has ended. Absent: the principal is anonymous. */
  get onEnd(): ((ended: () => void) => () => void) | undefined {
    if (this.#user === undefined) return undefined;
    // A credential that never ends may be renewed by one that does.
    return (ended) => {
      if (this.isEnded) ended();
      else this.#watchers.add(ended);
      return () => this.#watchers.delete(ended);
    };
  }

  /** Counts a user of the grant: an object, a feed or a call. The first one starts watching the credential. */
  hold(): void {
    this.#holders += 1;
    this.#start();
  }

  /** Removes a user of the grant. After the last one the credential is not watched. */
  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#stop();
  }

  /** Stops watching the credential permanently. */
  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #start(): void {
    if (!this.isHeld || this.#isClosed || this.isEnded) return;
    this.#stopWatching ??= this.#watch?.(() => this.#end());
  }

  #stop(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  #end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    for (const ended of [...this.#watchers]) ended();
    this.#watchers.clear();
    this.#options.onEnd(this);
  }
}

/** The parts of a request that differ from call to call. */
interface GrantedRequestOptions {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly call?: DirectCall | undefined;
  readonly parameters?: ReadonlyMap<string, string> | undefined;
  /** The sequence number after which a stream resumes. */
  readonly after?: number | undefined;
  /** A credential that replaces that of the grant. */
  readonly credential?: RequestFields | undefined;
}

interface GrantedRequestSetup extends GrantedRequestOptions {
  readonly upgrade: ExchangeRequest;
  readonly session: ReadonlyMap<string, string>;
  readonly grant: Grant;
}

const NOTHING = new Uint8Array();

/**
 * A call of a session in the form of a request. Its headers are the service parameters and the credential of the grant.
 * A grant without a credential of its own uses those of the upgrade request, except for cookies.
 */
class GrantedRequest implements ExchangeRequest {
  readonly method = 'POST';
  readonly path: string;
  readonly signal: AbortSignal;
  readonly call: DirectCall | undefined;
  readonly #setup: GrantedRequestSetup;
  user: User | undefined = undefined;
  requestId: string | undefined = undefined;
  /** Calls its argument when the credential of this request ends. The gate sets it. */
  credentialEnd: ((ended: () => void) => () => void) | undefined = undefined;

  constructor(parts: GrantedRequestSetup) {
    this.#setup = parts;
    this.path = parts.path;
    this.signal = parts.signal;
    this.call = parts.call;
  }

  /** A stream ends with the grant, which may have renewed its credential since the call. */
  get onCredentialEnd(): ((ended: () => void) => () => void) | undefined {
    return this.#setup.grant.onEnd;
  }

  set onCredentialEnd(watch) {
    this.credentialEnd = watch;
  }

  get query(): string {
    const pairs = Object.entries(this.#setup.credential?.query ?? {});
    return pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  }

  /** Headers of proxies are those of this request. */
  get upgrade(): ExchangeRequest {
    return this.#setup.upgrade;
  }

  get peer(): string | undefined {
    return this.upgrade.peer;
  }

  get local(): string | undefined {
    return this.#setup.upgrade.local;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.#setup.upgrade.clientCertificate;
  }

  header(name: string): string | undefined {
    const { upgrade, session, parameters, credential, after } = this.#setup;
    // A browser attaches cookies to an upgrade for the page of any site.
    if (name === 'cookie') return credential?.headers.cookie;
    if (OF_UPGRADE.test(name)) {
      // A credential within the session was chosen by its sender, not attached by a browser.
      if (credential !== undefined && OF_PAGES.test(name)) return name === 'sec-fetch-site' ? 'none' : undefined;
      return upgrade.header(name);
    }
    if (name === 'last-event-id') return after?.toString();
    const own = credential?.headers[name] ?? parameters?.get(name) ?? session.get(name);
    if (own !== undefined || credential !== undefined) return own;
    return upgrade.header(name);
  }

  headerLines(name: string): number {
    const value = this.header(name);
    if (value === undefined) return 0;
    const { upgrade } = this.#setup;
    return upgrade.header(name) === value ? (upgrade.headerLines?.(name) ?? 1) : 1;
  }

  async body(): Promise<Uint8Array> {
    return NOTHING;
  }
}
