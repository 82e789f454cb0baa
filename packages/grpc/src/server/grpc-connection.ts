import { constants, type ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import {
  type ClientCertificate,
  connectionCertificate,
  type WaitingHolder,
  type WaitingMemory,
} from 'parley-a2a/binding-kit';
import type { Clock, LimitName } from 'parley-a2a/server';

/** The limits of one connection. Times are in ms. */
export interface ConnectionLimits {
  /** Maximum number of concurrent calls. */
  readonly maxStreams: number;
  /** Idle time after which the server pings the client. */
  readonly keepAliveMs: number;
  /** Time limit for the answer to a ping. */
  readonly keepAliveTimeoutMs: number;
  /** The lifetime of a connection without calls. */
  readonly idleMs: number;
  /** Time limit for the start of HTTP/2 on a new connection. */
  readonly headersMs: number;
}

/** The options of a connection. */
export interface ConnectionOptions {
  readonly session: ServerHttp2Session;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** Bounds the answers that the clients of all connections have not read. */
  readonly waiting: WaitingMemory;
  /** Called when a limit ends the connection. */
  readonly limitReached: (limit: LimitName, peer: string | undefined) => void;
}

/**
 * Maximum number of pings, and of settings, from a client that gets no data. Clients that measure latency send pings
 * beside data.
 */
const MOST_PINGS = 1_000;
/** Number of calls that a client may cancel before their answers, at once and then per second. */
const RESETS_AT_ONCE = 500;
const RESETS_PER_SECOND = 50;
/** Bytes of a client without use, at once and then per second: padding, data of ended calls, window updates. */
const USELESS_AT_ONCE = 16 * 1024 * 1024;
const USELESS_PER_SECOND = 1024 * 1024;
/** Bytes that HTTP/2 adds to a call, and per byte of an answer, at most. */
const CALL_BYTES = 1024;
const BYTES_FOR_ANSWERS = 4;

/** One HTTP/2 connection, with protection against clients that flood, vanish or never begin. */
export class GrpcConnection implements WaitingHolder {
  readonly peer: string | undefined;
  /** Bytes of answers that the client has not read. */
  waitingBytes = 0;
  readonly #session: ServerHttp2Session;
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #waiting: WaitingMemory;
  readonly #limitReached: ConnectionOptions['limitReached'];
  /** Number of calls whose work is running, including canceled ones. */
  #working = 0;
  #streams = 0;
  /** True if a call has begun or ended since the last check, because calls read no clock. */
  #hasBegunCall = false;
  #hasEndedCall = false;
  /** The time of the last check after activity of a call. */
  #activeAt: number;
  /** The time of the last check after activity of the client. */
  #heardAt: number;
  #hasBegun = false;
  #pingedAt: number | undefined;
  #pings = 0;
  #settings = 0;
  #resets = 0;
  #resetsAt: number;
  /** Bytes that calls have read, with their headers. */
  #useful = 0;
  /** Useless bytes beyond the allowance. */
  #useless = 0;
  /** The difference between read and useful bytes at the last check. */
  #balance = 0;
  #checkedAt: number;

  constructor({ session, limits, clock, waiting, limitReached }: ConnectionOptions) {
    this.#session = session;
    this.#limits = limits;
    this.#clock = clock;
    this.#waiting = waiting;
    this.#limitReached = limitReached;
    this.peer = session.socket.remoteAddress;
    this.#activeAt = clock.monotonic();
    this.#heardAt = this.#activeAt;
    this.#resetsAt = this.#activeAt;
    this.#checkedAt = this.#activeAt;
    session.on('ping', this.#onPing);
    session.on('remoteSettings', this.#onSettings);
  }

  /** The caller whose connections count together. */
  get caller(): string | undefined {
    return this.peer;
  }

  get clientCertificate(): ClientCertificate | undefined {
    const { socket } = this.#session;
    return this.#session.encrypted ? connectionCertificate(socket as TLSSocket) : undefined;
  }

  /** Records the begin of a call. False: the client has canceled so many calls that their work must end first. */
  begins(headerBytes: number): boolean {
    this.#streams += 1;
    this.#hasBegunCall = true;
    this.#useful += headerBytes + CALL_BYTES;
    return this.#working < 2 * this.#limits.maxStreams;
  }

  /** Records the end of a call's stream. `early`: the client has canceled the call. */
  endCall(early: boolean): void {
    this.#streams -= 1;
    this.#hasEndedCall = true;
    if (early) this.countReset();
  }

  /** Records the begin or the end of the work for a call. */
  works(delta: 1 | -1): void {
    this.#working += delta;
  }

  /** Records bytes of a message that a call has read. */
  takes(bytes: number): void {
    this.#useful += bytes;
  }

  /** Records that data is sent to the client. */
  sends(): void {
    this.#pings = 0;
    this.#settings = 0;
  }

  /** Records a change of the bytes that the client has not read. */
  waits(delta: number): void {
    this.waitingBytes += delta;
    if (!this.#session.destroyed) this.#waiting.count(this, this.waitingBytes);
  }

  /** Closes the connection, because its client leaves too much unread. */
  endWaiting(): void {
    this.#expel('too_many_bytes_unread', 'waitingBytes');
  }

  /** Reports a time limit that the client has exceeded. */
  isLate(limit: 'headersMs' | 'requestMs' | 'stallMs'): void {
    this.#limitReached(limit, this.peer);
  }

  /** Closes a connection that has not begun, is idle, or whose client is gone. Called periodically. */
  check(): void {
    const { headersMs, idleMs, keepAliveMs, keepAliveTimeoutMs } = this.#limits;
    const now = this.#clock.monotonic();
    if (this.#hasBegunCall) this.#heardAt = now;
    if (this.#hasBegunCall || this.#hasEndedCall) this.#activeAt = now;
    this.#hasBegunCall = false;
    this.#hasEndedCall = false;
    const silence = now - this.#activeAt;
    this.#weigh(now);
    if (!this.#hasBegun && silence > headersMs) {
      if (!this.#session.destroyed) this.isLate('headersMs');
      return this.#session.destroy();
    }
    if (this.#streams === 0 && silence > idleMs && !this.#session.closed) this.#session.close();
    if (this.#pingedAt !== undefined && now - this.#pingedAt > keepAliveTimeoutMs) return this.#session.destroy();
    if (this.#pingedAt === undefined && now - this.#heardAt > keepAliveMs) this.#ping(now);
  }

  /** Closes a connection whose client floods with useless bytes. */
  #weigh(now: number): void {
    if (this.#session.destroyed) return;
    const { bytesRead, bytesWritten } = this.#session.socket;
    const balance = bytesRead - this.#useful - BYTES_FOR_ANSWERS * bytesWritten;
    const allowed = ((now - this.#checkedAt) / 1000) * USELESS_PER_SECOND;
    this.#useless = Math.max(0, this.#useless + balance - this.#balance - allowed);
    this.#balance = balance;
    this.#checkedAt = now;
    if (this.#useless > USELESS_AT_ONCE) this.#expel('too_many_bytes_of_no_use', 'bytesOfNoUse');
  }

  /** Accepts no more calls. Running calls continue. */
  goAway(): void {
    if (!this.#session.closed && !this.#session.destroyed) this.#session.close();
  }

  cut(): void {
    this.#session.destroy();
  }

  #ping(now: number): void {
    if (this.#session.destroyed) return;
    this.#pingedAt = now;
    this.#session.ping(() => {
      this.#pingedAt = undefined;
      this.#heardAt = this.#clock.monotonic();
    });
  }

  readonly #onPing = (): void => {
    this.#pings += 1;
    if (this.#pings > MOST_PINGS) this.#expel('too_many_pings', 'pings');
  };

  readonly #onSettings = (): void => {
    this.#hasBegun = true;
    this.#settings += 1;
    if (this.#settings > MOST_PINGS) this.#expel('too_many_settings', 'settings');
  };

  /** Records that the client has canceled a call, or sent one too many. */
  countReset(): void {
    const now = this.#clock.monotonic();
    const refilled = ((now - this.#resetsAt) / 1000) * RESETS_PER_SECOND;
    this.#resets = Math.max(0, this.#resets - refilled) + 1;
    this.#resetsAt = now;
    if (this.#resets > RESETS_AT_ONCE) this.#expel('too_many_resets', 'resets');
  }

  #expel(reason: string, limit: LimitName): void {
    const session = this.#session;
    if (session.destroyed) return;
    this.#limitReached(limit, this.peer);
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(reason));
    session.destroy();
  }
}
