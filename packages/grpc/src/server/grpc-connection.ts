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
  /** Calls at the same time. */
  readonly maxStreams: number;
  /** Silence after which the server asks whether the client is still there. */
  readonly keepAliveMs: number;
  /** The longest wait for the answer to that. */
  readonly keepAliveTimeoutMs: number;
  /** The lifetime of a connection without calls. */
  readonly idleMs: number;
  /** The longest time for the start of HTTP/2 on a new connection. */
  readonly headersMs: number;
}

/** The options of a connection. */
export interface ConnectionOptions {
  readonly session: ServerHttp2Session;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** Bounds the answers that the clients of all connections have not taken. */
  readonly waiting: WaitingMemory;
  /** Called when a limit ends the connection. */
  readonly limitReached: (limit: LimitName, peer: string | undefined) => void;
}

/** Pings, and as many settings, of a client that gets no data. Clients that measure send pings beside data. */
const MOST_PINGS = 1_000;
/** Calls that a client may take back before their answers, at once and then per second. */
const RESETS_AT_ONCE = 500;
const RESETS_PER_SECOND = 50;
/** Bytes of a client that are of no use, at once and then per second: padding, data of calls that are over, windows. */
const USELESS_AT_ONCE = 16 * 1024 * 1024;
const USELESS_PER_SECOND = 1024 * 1024;
/** The bytes that HTTP/2 adds to a call, and those for each byte of an answer, at the most. */
const CALL_BYTES = 1024;
const BYTES_FOR_ANSWERS = 4;

/** One HTTP/2 connection, and its protection against clients that flood, vanish or never begin. */
export class GrpcConnection implements WaitingHolder {
  readonly peer: string | undefined;
  /** Bytes of answers that wait for the client. */
  waitingBytes = 0;
  readonly #session: ServerHttp2Session;
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #waiting: WaitingMemory;
  readonly #limitReached: ConnectionOptions['limitReached'];
  /** Calls whose work goes on, also after the client has taken them back. */
  #working = 0;
  #streams = 0;
  /** A call has begun, or one has ended, since the last check: calls read no clock. */
  #hasBegunCall = false;
  #hasEndedCall = false;
  /** The last check after a sign of a call. */
  #activeAt: number;
  /** The last check after a sign of the client. */
  #heardAt: number;
  #hasBegun = false;
  #pingedAt: number | undefined;
  #pings = 0;
  #settings = 0;
  #resets = 0;
  #resetsAt: number;
  /** Bytes that calls have taken, with their headers. */
  #useful = 0;
  /** Bytes of no use that the allowance does not cover yet. */
  #useless = 0;
  /** The bytes read beyond useful ones, at the last check. */
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

  /** The caller whose connections are weighed together. */
  get caller(): string | undefined {
    return this.peer;
  }

  get clientCertificate(): ClientCertificate | undefined {
    const { socket } = this.#session;
    return this.#session.encrypted ? connectionCertificate(socket as TLSSocket) : undefined;
  }

  /** A call begins. False: the client has taken back so many calls that their work must end first. */
  begins(headerBytes: number): boolean {
    this.#streams += 1;
    this.#hasBegunCall = true;
    this.#useful += headerBytes + CALL_BYTES;
    return this.#working < 2 * this.#limits.maxStreams;
  }

  /** The stream of a call is over. `early`: the client has taken the call back. */
  ended(early: boolean): void {
    this.#streams -= 1;
    this.#hasEndedCall = true;
    if (early) this.countReset();
  }

  /** The work for a call begins, and ends with the returned function. */
  works(delta: 1 | -1): void {
    this.#working += delta;
  }

  /** A call takes bytes of its message. */
  takes(bytes: number): void {
    this.#useful += bytes;
  }

  /** Data goes to the client. */
  sends(): void {
    this.#pings = 0;
    this.#settings = 0;
  }

  /** Bytes of an answer begin to wait for the client, or no longer do. */
  waits(delta: number): void {
    this.waitingBytes += delta;
    if (!this.#session.destroyed) this.#waiting.count(this, this.waitingBytes);
  }

  /** Ends the connection, because its client leaves too much unread. */
  endWaiting(): void {
    this.#expel('too_many_bytes_unread', 'waitingBytes');
  }

  /** Tells of a time that the client has used up. */
  isLate(limit: 'headersMs' | 'requestMs' | 'stallMs'): void {
    this.#limitReached(limit, this.peer);
  }

  /** Ends a connection that has not begun, is idle, or whose client is gone. Called again and again. */
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

  /** Ends a connection whose client floods with bytes that no call takes. */
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

  /** Takes no more calls. Running calls go on. */
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

  /** The client has taken a call back, or sent one too many. */
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
