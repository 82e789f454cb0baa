import type { AgentCard, InvalidParamsError, Logger } from 'parley-a2a';
import {
  callDirectly,
  type DirectReply,
  endedCredentialError,
  type ItemSource,
  isStreaming,
  majorMinor,
  type OperationName,
  ServerClosingError,
  singleValue,
  takesMessage,
  toA2AError,
  type UnaryOperationName,
  UnsupportedOperationError,
  VersionNotSupportedError,
  v1_0,
} from 'parley-a2a/binding-kit';
import { A2AError } from 'parley-a2a/kit';
import type { Clock, Exchange, ExchangeRequest, LimitName, RequestLimits } from 'parley-a2a/server';
import { FeedSource } from './feed-source.js';
import { Grant } from './grant.js';
import type { InBandCredential, RequestFields } from './in-band-credential.js';
import type { SessionCodec } from './plain-codec.js';
import type { SessionLimits } from './session-limits.js';
import { invalid, readCredential, readHello, readOptions, withTenant } from './session-values.js';
import { ARRIVAL_MS, type FrameMemory } from './socket-transport.js';
import { toWireError } from './wire-errors.js';
import { fromWire, toWireFromText } from './wire-values.js';

/** The agent of a session, and the rules for it. */
export interface ServerSessionOptions {
  /** The direct calls of the agent (`directWay`). */
  readonly exchange: Exchange;
  /** The request that opened the connection. */
  readonly upgrade: ExchangeRequest;
  readonly card: () => AgentCard;
  /** False: the agent supports only versions before 1.0, and so plain arguments only. */
  readonly isCurrent: boolean;
  /**
   * Puts a credential into a request.
   * @throws A2AError for a scheme that the card does not have.
   */
  readonly present: (credential: InBandCredential, card: AgentCard) => RequestFields;
  readonly limits: SessionLimits;
  /** The limits of a request. Its bytes include file content. */
  readonly requests: RequestLimits;
  /** True for a batch, which has no feeds. */
  readonly isBatch: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a limit of the session was reached, by its name. */
  readonly limitReached: (limit: LimitName) => void;
  /** Called when a caller was admitted. */
  readonly onAdmit: () => void;
  /** Ends the connection. */
  readonly end: (reason: SessionEnd) => void;
  /** Pauses further frames until the returned function is called. */
  readonly hold: () => () => void;
  /** Bounds the streamed files of all connections. Absent: only the limits of each request apply. */
  readonly memory?: FrameMemory | undefined;
}

/** The reasons for which a session ends its connection. */
export type SessionEnd = 'credentialEnded' | 'refusals' | 'restart';

/** One call of a client. */
interface SessionCall {
  readonly grant: Grant;
  readonly operation: OperationName;
  readonly value: unknown;
  readonly options?: unknown;
  /** The sequence number after which a stream resumes. */
  readonly after?: number | undefined;
  /** The shapes of the call. Default: those of 1.0. */
  readonly codec?: SessionCodec | undefined;
}

const VERSION_PARAMETER = 'a2a-version';
const RUNNING_RETRY_MS = 1000;
const DRAIN_RETRY_MS = 1000;
/** Maximum number of requests of a connection whose files are being streamed. */
const MOST_COLLECTED = 4;
/** Number of refused credentials after which a connection ends. */
const TRIES = 3;

/** A stream without events. */
const NO_ITEMS: ItemSource = { next: async () => ({ value: undefined, done: true }) };

/** The state of one connection: its grants, its running calls and its feeds. All of its objects share it. */
export class ServerSession {
  readonly options: ServerSessionOptions;
  readonly #feeds = new Set<FeedSource>();
  readonly #grants = new Set<Grant>();
  /** Errors of calls that are logged already. */
  readonly #logged = new WeakSet<A2AError>();
  /** Number of open and opening feeds. */
  #feedPlaces = 0;
  #running = 0;
  /** Number of requests whose files are being streamed. */
  #collecting = 0;
  #refusals = 0;
  #lastUse: number;
  #isDraining = false;
  #gone: AbortController | undefined;
  #isClosed = false;
  #lastFeedEnded: (() => void) | undefined;

  constructor(options: ServerSessionOptions) {
    this.options = options;
    this.#lastUse = options.clock.monotonic();
  }

  /** True if no call and no feed has been open for a time. */
  isIdleFor(ms: number): boolean {
    const { clock } = this.options;
    return this.#running === 0 && this.#feeds.size === 0 && clock.monotonic() - this.#lastUse >= ms;
  }

  /** Authenticates the sender of a hello, and returns its grant. `isPlain`: for methods with plain arguments. */
  authenticate(hello: unknown, isPlain = false): Promise<Grant> {
    return this.run(async () => {
      const { parameters, tenant, credential } = readHello(hello);
      if (!isPlain) this.#requireVersion(parameters);
      const presented = credential && this.#present(credential);
      const resume = this.options.hold();
      try {
        const onEnd = (grant: Grant) => this.#grantEnded(grant);
        const grant = new Grant({ upgrade: this.options.upgrade, parameters, tenant, credential: presented, onEnd });
        await this.#admit(grant, presented);
        this.#grants.add(grant);
        this.options.onAdmit();
        return grant;
      } finally {
        resume();
      }
    });
  }

  /** Replaces the credential of a grant by another one of the same principal. */
  renew(grant: Grant, credential: unknown): Promise<{ expiresAt?: string }> {
    return this.run(async () => {
      this.#requireGrant(grant);
      await this.#admit(grant, this.#present(readCredential(credential, '')), true);
      const { expiresAt } = grant;
      return expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
    });
  }

  /** Calls a unary operation, and returns its response for the peer. */
  call(call: SessionCall): Promise<unknown> {
    return this.run(() => this.answerCall(call));
  }

  /** As `call`, within a running call of the peer (`run`). */
  async answerCall(call: SessionCall): Promise<unknown> {
    const { codec = v1_0, operation, grant } = call;
    this.hold(grant);
    try {
      const { answer } = await this.#reply(call);
      if (answer.kind === 'error') throw answer.error;
      if (answer.kind === 'stream') throw new UnsupportedOperationError();
      return toWireFromText(codec.encode(operation as UnaryOperationName, answer.response as never));
    } finally {
      this.release(grant);
    }
  }

  /** Opens a stream. */
  stream(call: SessionCall): Promise<FeedSource> {
    return this.run(async () => {
      const { isBatch, limits } = this.options;
      if (isBatch) throw new UnsupportedOperationError('a batch has no streams');
      if (this.#feedPlaces >= limits.feeds)
        throw this.#tooMany('feeds', `${limits.feeds} feeds of this connection are open`);
      // Counted before the stream is open, because calls may open streams concurrently.
      this.#feedPlaces += 1;
      this.hold(call.grant);
      try {
        const { answer } = await this.#reply(call);
        if (answer.kind === 'response') throw new UnsupportedOperationError();
        if (answer.kind === 'stream') return this.#open(answer.items, call);
        if (call.after === undefined || !hasEnded(answer.error)) throw answer.error;
        // The client has all events of a task that has ended.
        return this.#open(NO_ITEMS, call);
      } catch (error) {
        this.#feedPlaces -= 1;
        this.release(call.grant);
        throw error;
      }
    });
  }

  /** Runs a call of a peer: counts it as running, and converts its errors for the peer. */
  async run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const { limits, logger } = this.options;
    let isCounted = false;
    try {
      if (this.#isDraining) throw restartError();
      if (this.#running >= limits.runningCalls)
        throw this.#tooMany('runningCalls', `${limits.runningCalls} calls of this connection are running`);
      this.#running += 1;
      isCounted = true;
      return await work();
    } catch (thrown) {
      const isLogged = thrown instanceof A2AError && this.#logged.has(thrown);
      throw toWireError(isLogged ? thrown : toA2AError(thrown, logger, { operation: 'session' }));
    } finally {
      if (isCounted) this.#running -= 1;
      this.#touch();
    }
  }

  /** Adds a user to a grant: an object, a feed or a call. */
  hold(grant: Grant): void {
    if (!this.#isClosed && !grant.isEnded) this.#grants.add(grant);
    grant.hold();
  }

  /** Removes a user from a grant, and the grant after the last one. */
  release(grant: Grant): void {
    grant.release();
    if (!grant.isHeld) this.#grants.delete(grant);
  }

  /** Refuses new calls. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Lets feeds of ended turns send their last events, ends the others, and then the connection. */
  endAll(graceMs = 0): void {
    this.drain();
    const cut = () => {
      for (const feed of [...this.#feeds]) feed.stop(restartError());
      this.#endSoon('restart');
    };
    if (graceMs === 0 || this.#feeds.size === 0) return cut();
    const stopTimer = this.options.clock.after(graceMs, cut);
    const stopAndCut = () => {
      stopTimer();
      cut();
    };
    this.#lastFeedEnded = stopAndCut;
  }

  /** Releases everything, because the connection has ended. */
  closed(): void {
    this.#isClosed = true;
    this.#isDraining = true;
    this.#lastFeedEnded = undefined;
    this.#gone?.abort();
    for (const feed of [...this.#feeds]) feed.stop();
    for (const grant of this.#grants) grant.close();
    this.#grants.clear();
  }

  #open(items: ItemSource, { grant, operation, codec = v1_0 }: SessionCall): FeedSource {
    const feed: FeedSource = new FeedSource({
      items,
      textOf: codec.encodeEvent,
      isModel: codec === v1_0,
      followsTurn: takesMessage(operation),
      errorOf: (thrown) => toA2AError(thrown, this.options.logger, { operation }),
      cutShort: () => (this.#isDraining ? restartError() : undefined),
      onEnd: () => {
        this.#feeds.delete(feed);
        this.#feedPlaces -= 1;
        this.release(grant);
        this.#touch();
        if (this.#feeds.size === 0) this.#lastFeedEnded?.();
      },
    });
    this.#feeds.add(feed);
    if (this.#isClosed) feed.stop();
    return feed;
  }

  async #reply({ grant, operation, value, options, after, codec = v1_0 }: SessionCall): Promise<DirectReply> {
    this.#requireGrant(grant);
    const parameters = readOptions(options);
    this.#requireVersion(parameters, false);
    const { exchange, upgrade } = this.options;
    const decoded = this.#read(value);
    const plain = decoded instanceof Promise ? await decoded : decoded;
    const reply = await callDirectly(
      exchange,
      grant.request({
        path: upgrade.path,
        signal: this.#signal,
        call: { operation, decoder: codec, value: withTenant(plain, grant.tenant) },
        parameters,
        after: isStreaming(operation) ? after : undefined,
      }),
    );
    if (reply.answer.kind === 'error') this.#logged.add(reply.answer.error);
    return reply;
  }

  /** Decodes the request as JSON of the model, with its streamed files. */
  #read(value: unknown): unknown {
    const isFull = this.#collecting >= MOST_COLLECTED;
    const fault = isFull
      ? () => this.#tooMany('files', `the files of ${MOST_COLLECTED} requests of this connection are arriving`)
      : notJson;
    const { requests, memory, clock } = this.options;
    const holder = {};
    const { promise: late, reject } = Promise.withResolvers<never>();
    // Without room, the first bytes of a file exceed the limit, and its stream is canceled.
    const decoded = fromWire(value, {
      streamBytes: isFull ? 0 : requests.bodyBytes,
      limits: requests,
      fault,
      take: (bytes) => memory?.take(holder, bytes),
      late,
    });
    if (!(decoded instanceof Promise)) return decoded;
    const stopTimer = clock.after(ARRIVAL_MS, () => reject(notJson('The files did not arrive in time')));
    this.#collecting += 1;
    return decoded.finally(() => {
      stopTimer();
      memory?.release(holder);
      this.#collecting -= 1;
    });
  }

  /** Asks the gate about a credential, and binds it to a grant. */
  async #admit(grant: Grant, credential: RequestFields | undefined, isRenewal = false): Promise<void> {
    const { exchange, upgrade } = this.options;
    const request = grant.request({
      path: upgrade.path,
      signal: this.#signal,
      ...(isRenewal && { credential }),
    });
    const { answer } = await callDirectly(exchange, request);
    if (answer.kind === 'error') throw this.#refusal(answer.error);
    if (isRenewal && grant.isOther(request.user))
      throw new A2AError('PERMISSION_DENIED', 'The credential is of another principal');
    grant.admit(request, credential);
  }

  /** The error of a refused credential. It names the accepted schemes. */
  #refusal(error: A2AError): A2AError {
    if (error.code !== 'UNAUTHENTICATED') return error;
    this.#refusals += 1;
    if (this.#refusals >= TRIES) this.#endSoon('refusals');
    const schemes = Object.keys(this.options.card().securitySchemes ?? {}).join(', ');
    const metadata = { ...error.details.metadata, ...(schemes !== '' && { schemes }) };
    return new A2AError(error.code, error.message, { ...error.details, metadata });
  }

  #present(credential: InBandCredential): RequestFields {
    try {
      return this.options.present(credential, this.options.card());
    } catch (thrown) {
      throw thrown instanceof A2AError ? this.#refusal(thrown) : thrown;
    }
  }

  #tooMany(limit: LimitName, particular: string): A2AError {
    this.options.limitReached(limit);
    const details = { metadata: { limit }, retryAfterMs: RUNNING_RETRY_MS };
    return new A2AError('RESOURCE_EXHAUSTED', `Too many calls: ${particular}`, details);
  }

  #requireGrant(grant: Grant): void {
    if (grant.isEnded) throw endedCredentialError();
  }

  /** The only version of this binding. No version at all stands for 0.3 (Spec §3.6.2). */
  #requireVersion(parameters: ReadonlyMap<string, string>, isRequired = true): void {
    const asked = singleValue('A2A-Version', parameters.get(VERSION_PARAMETER));
    if (asked === undefined && !isRequired) return;
    const version = asked === undefined || asked === '' ? '0.3' : asked;
    if (!this.options.isCurrent) throw plainOnly(version);
    if (majorMinor(version) !== v1_0.version)
      throw new VersionNotSupportedError(version, [v1_0.version], { assumed: asked !== version });
  }

  #grantEnded(grant: Grant): void {
    this.#grants.delete(grant);
    // Other principals of the connection stay.
    if (this.#grants.size === 0) this.#endSoon('credentialEnded');
  }

  /** Ends the connection after the frames of its errors are sent. */
  #endSoon(reason: SessionEnd): void {
    const { clock, end } = this.options;
    clock.soon(() => clock.soon(() => end(reason)));
  }

  get #signal(): AbortSignal {
    this.#gone ??= new AbortController();
    return this.#gone.signal;
  }

  #touch(): void {
    this.#lastUse = this.options.clock.monotonic();
  }
}

/** True for the error of a subscription to a task that has ended. */
function hasEnded({ code, details }: A2AError): boolean {
  return code === 'UNSUPPORTED_OPERATION' && details.metadata?.taskId !== undefined;
}

/** An agent of 0.3 alone has the methods of the entrance, which take the shapes of 0.3. */
function plainOnly(requestedVersion: string): A2AError {
  const text = 'This agent speaks A2A 0.3 only: call the methods of the entrance, which take plain arguments';
  return new A2AError('VERSION_NOT_SUPPORTED', text, { metadata: { requestedVersion, supportedVersions: '0.3' } });
}

function restartError(): A2AError {
  return new ServerClosingError(DRAIN_RETRY_MS);
}

function notJson(description: string): InvalidParamsError {
  return invalid('', description);
}
