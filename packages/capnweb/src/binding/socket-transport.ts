import {
  passedBound,
  type SocketPort,
  type TurnBudget,
  type WaitingHolder,
  type WaitingMemory,
} from 'parley-a2a/binding-kit';
import type { Clock } from 'parley-a2a/server';
import {
  FrameCheck,
  FrameFault,
  type FrameLimits,
  POLICY_VIOLATION,
  type SessionLimitName,
  tooManyItems,
} from './frame-check.js';

/** The bounds of a connection. */
export interface TransportLimits extends FrameLimits {
  /** Characters of a frame. */
  readonly frameLength: number;
  /** Bytes of stream writes of the peer that no reader has read. Beyond it, reading of the socket pauses. */
  readonly unconsumedBytes: number;
  /** Bytes that wait for the peer to read them. */
  readonly outboundBytes: number;
  /** The time between pings. Two pings without an answer end the connection. */
  readonly pingMs: number;
}

/** Memory that connections share. */
export interface FrameMemory {
  /** Reserves bytes for a holder. The promise resolves when they are reserved; absent: at once. */
  take(holder: object, bytes: number): Promise<void> | undefined;
  release(holder: object): void;
}

/** A socket, and the other ports of the transport. */
interface SocketTransportOptions {
  readonly socket: SocketPort;
  readonly limits: TransportLimits;
  readonly clock: Clock;
  /** Characters of a frame until `welcome`. Default: as after it. */
  readonly firstFrameLength?: number;
  /** Bounds the large frames of all connections. Absent: no bound. */
  readonly memory?: FrameMemory | undefined;
  /** Bounds the bytes of all connections that wait for a reader. Absent: no bound. */
  readonly waiting?: WaitingMemory | undefined;
  /** The caller, whose connections count together in `waiting`. */
  readonly caller?: string | undefined;
  /** The time for the frames of all connections. Absent: no bound. */
  readonly turn?: Pick<TurnBudget, 'isOver'>;
  /** Called once, when the connection has ended. */
  readonly onClose: (fault: FrameFault) => void;
  /** Called at each ping. */
  readonly tick?: () => void;
}

/** Codes of ended connections (RFC 6455 §7.4.1). */
export const CLOSE_CODES = {
  normal: 1000,
  abnormal: 1006,
  policy: POLICY_VIOLATION,
  tooBig: 1009,
  restart: 1012,
  credentialEnded: 4401,
  authenticateTimeout: 4408,
} as const;

/**
 * Estimates from its text whether a frame has far more items than a value may. A list has two brackets there, and the
 * message around the values has a few. A call with slightly too many gets an error, and its connection stays.
 */
export function holdsTooMuch(text: string, { items }: FrameLimits): boolean {
  return passedBound(text, { depth: Number.POSITIVE_INFINITY, items: 4 * items + 64 }) !== undefined;
}

/** Time in ms for which stream writes of the peer may wait for a local reader, before the connection ends. */
const PAUSE_MS = 30_000;
/**
 * Maximum length of a frame that is not counted in the shared memory, so that small frames never wait for large ones.
 */
const SMALL_LENGTH = 65_536;
/**
 * Maximum time for which a frame counts in the shared memory, in ms. After that only the limits of its connection
 * apply.
 */
const COUNTED_MS = 20_000;
/** Time limit in ms for a large frame, or the files of a request, to arrive. */
export const ARRIVAL_MS = 120_000;
/** Multiple of the limit up to which a host without `pause` reads on. */
const WITHOUT_PAUSE = 4;

/**
 * The transport of a Cap'n Web session over a socket, for `RpcSession`. A message of the socket is one frame. The
 * transport checks each frame before the session gets it, and bounds the memory of the connection. It sends pings, and
 * closes the connection with a code and a reason. Both clients and servers use it.
 */
export class SocketTransport implements WaitingHolder {
  readonly encodingLevel = 'jsonCompatible';
  readonly #options: SocketTransportOptions;
  readonly #socket: SocketPort;
  readonly #check: FrameCheck;
  /** Received frames that the session has not read, beginning at `#first`. */
  #queue: string[] = [];
  #first = 0;
  /** The number of characters of these frames. */
  #queued = 0;
  #waiting: PromiseWithResolvers<unknown> | undefined;
  #fault: FrameFault | undefined;
  #isWelcome: boolean;
  #holds = 0;
  #isPaused = false;
  #isReading = true;
  #unanswered = 0;
  #stopPing: (() => void) | undefined;
  #stopPause: (() => void) | undefined;
  /** The holder of the memory for a large frame that is still arriving. */
  readonly #arrival = {};
  #stopArrival: (() => void) | undefined;

  constructor(options: SocketTransportOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#check = new FrameCheck(options.limits);
    this.#isWelcome = options.firstFrameLength === undefined;
    this.#socket.receive({
      message: (text) => this.#accept(text),
      arriving: (bytes) => this.#arriving(bytes),
      pong: () => {
        this.#unanswered = 0;
      },
      closed: (code, reason) => this.#end(new FrameFault(code, reason)),
    });
    this.#ping();
  }

  /** True after the connection has ended. */
  get isClosed(): boolean {
    return this.#fault !== undefined;
  }

  get caller(): string | undefined {
    return this.#options.caller;
  }

  /** Bytes of stream writes that no call has taken, and bytes that the peer has not read. */
  get waitingBytes(): number {
    return this.#check.unconsumed + this.#socket.bufferedAmount;
  }

  /** Closes the connection, because too many bytes of all connections wait for their peers to read. */
  endWaiting(): void {
    const isUnread = this.#socket.bufferedAmount > this.#check.unconsumed;
    this.close(CLOSE_CODES.policy, 'Too many bytes of all connections wait for a reader', 'waitingBytes');
    // A close frame would wait behind the unread bytes.
    if (isUnread) this.#socket.terminate();
  }

  /** Sends a frame of the session, and returns its length. */
  send(frame: unknown): number {
    if (this.#fault !== undefined) return 0;
    const text = JSON.stringify(frame);
    try {
      this.#check.send(frame as readonly unknown[], text);
    } catch (fault) {
      this.#fail(fault);
      return text.length;
    }
    this.#socket.send(text);
    const { bufferedAmount } = this.#socket;
    this.#options.waiting?.count(this, bufferedAmount + this.#check.unconsumed);
    if (bufferedAmount > this.#options.limits.outboundBytes) {
      this.close(CLOSE_CODES.policy, 'The peer reads too slowly', 'outboundBytes');
      // A close frame would wait behind the unread bytes.
      this.#socket.terminate();
    }
    if (this.#isPaused) this.#resumeIfTaken();
    return text.length;
  }

  /** The next frame of the peer. Rejects when the connection has ended. */
  receive(): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting = waiting;
    if (this.#fault !== undefined) waiting.reject(this.#fault);
    else this.#deliver();
    return waiting.promise;
  }

  /** Called by the session when it breaks. */
  abort(reason: unknown): void {
    if (reason instanceof FrameFault) this.#fail(reason);
    else this.close(CLOSE_CODES.policy, 'The session broke');
  }

  /** Accepts frames of full length from now on. */
  welcome(): void {
    this.#isWelcome = true;
    this.#socket.limitMessages?.(this.#options.limits.frameLength);
  }

  /** Withholds further frames from the session until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    this.#stopReading();
    return () => {
      this.#holds -= 1;
      this.#deliver();
    };
  }

  #stopReading(): void {
    this.#isReading = false;
    this.#socket.pause?.();
  }

  /** Resumes reading once the session has all received frames. Further frames would only wait here. */
  #readOn(): void {
    if (this.#isReading || this.#holds > 0 || this.#isPaused) return;
    this.#isReading = true;
    this.#socket.resume?.();
  }

  /** Closes the connection, after the frames that were sent before. */
  close(code: number, reason: string, limit?: SessionLimitName): void {
    this.#fail(new FrameFault(code, reason, limit));
  }

  /** Counts the bytes of a large frame before it is complete. Without room, reading pauses. */
  #arriving(bytes: number): void {
    const { memory, clock } = this.#options;
    if (memory === undefined || bytes <= SMALL_LENGTH || this.#holds > 0 || this.#fault !== undefined) return;
    this.#stopArrival ??= clock.after(ARRIVAL_MS, () =>
      this.close(CLOSE_CODES.policy, 'A large frame did not arrive in time', 'bodyMemory'),
    );
    const room = memory.take(this.#arrival, bytes);
    if (room !== undefined) room.then(this.hold(), () => this.#failMemory());
  }

  #forgetArrival(): void {
    if (this.#stopArrival === undefined) return;
    this.#stopArrival();
    this.#stopArrival = undefined;
    this.#options.memory?.release(this.#arrival);
  }

  #failMemory(): void {
    this.close(CLOSE_CODES.policy, 'Too many large frames at the same time', 'bodyMemory');
  }

  #accept(text: string): void {
    // A peer may continue to send after the end.
    if (this.#fault !== undefined) return;
    this.#forgetArrival();
    this.#unanswered = 0;
    this.#queue.push(text);
    this.#queued += text.length;
    this.#deliver();
    // A host without `pause` continues to deliver frames.
    if (this.#holds > 0 && this.#socket.pause === undefined && this.#queued > this.#options.limits.frameLength)
      this.close(CLOSE_CODES.policy, 'Too many frames before the answer to authenticate');
  }

  /** Not `shift`, which moves all frames behind the first one. */
  #nextFrame(): string | undefined {
    const text = this.#queue[this.#first];
    if (text === undefined) return undefined;
    this.#first += 1;
    this.#queued -= text.length;
    if (this.#first === this.#queue.length) {
      this.#queue = [];
      this.#first = 0;
    }
    return text;
  }

  #deliver(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || this.#holds > 0 || this.#fault !== undefined) return;
    const text = this.#nextFrame();
    if (text === undefined) return this.#readOn();
    const { memory, clock } = this.#options;
    if (memory === undefined || text.length <= SMALL_LENGTH) return this.#give(text, waiting);
    const holder = {};
    // A peer that never requests an answer must not hold the shared memory.
    const stopTimer = clock.after(COUNTED_MS, () => memory.release(holder));
    const release = () => {
      stopTimer();
      memory.release(holder);
    };
    const room = memory.take(holder, text.length);
    if (room === undefined) return this.#give(text, waiting, release);
    const resume = this.hold();
    const giveText = () => {
      if (this.#fault === undefined) this.#give(text, waiting, release);
      else release();
      resume();
    };
    room.then(giveText, () => {
      release();
      this.#failMemory();
    });
  }

  #give(text: string, waiting: PromiseWithResolvers<unknown>, release?: () => void): void {
    let frame: unknown;
    try {
      frame = this.#parse(text);
      this.#check.receive(frame, text.length, release);
    } catch (fault) {
      release?.();
      return this.#fail(fault);
    }
    this.#waiting = undefined;
    waiting.resolve(frame);
    const { limits, waiting: memory } = this.#options;
    if (this.#check.unconsumed > limits.unconsumedBytes) this.#pause();
    if (this.#check.unconsumed > SMALL_LENGTH) memory?.count(this, this.waitingBytes);
    if (this.#options.turn?.isOver() === true) this.#giveWay();
  }

  /** Yields to the other connections of the process. */
  #giveWay(): void {
    if (this.#socket.pause !== undefined) this.#options.clock.soon(this.hold());
  }

  #parse(text: string): unknown {
    const { limits, firstFrameLength = limits.frameLength } = this.#options;
    if (text.length > (this.#isWelcome ? limits.frameLength : firstFrameLength))
      throw new FrameFault(CLOSE_CODES.tooBig, 'The frame is too large', 'frame');
    if (holdsTooMuch(text, limits)) throw tooManyItems();
    try {
      return JSON.parse(text);
    } catch {
      throw new FrameFault(CLOSE_CODES.policy, 'A frame must be JSON');
    }
  }

  #pause(): void {
    if (this.#isPaused) return;
    const { limits, clock } = this.#options;
    if (this.#socket.pause === undefined) {
      if (this.#check.unconsumed > WITHOUT_PAUSE * limits.unconsumedBytes) this.#failUnread();
      return;
    }
    this.#isPaused = true;
    this.#stopReading();
    this.#stopPause = clock.after(PAUSE_MS, () => this.#failUnread());
  }

  #failUnread(): void {
    this.close(CLOSE_CODES.policy, 'Too many bytes of streams wait for their readers', 'unconsumedBytes');
  }

  #resumeIfTaken(): void {
    if (this.#check.unconsumed > this.#options.limits.unconsumedBytes / 2) return;
    this.#isPaused = false;
    this.#stopPause?.();
    if (this.#queue.length === 0) this.#readOn();
  }

  #ping(): void {
    const { clock, limits, tick } = this.#options;
    this.#stopPing = clock.after(limits.pingMs, () => {
      // While reading is paused, no pong could arrive.
      if (this.#socket.ping !== undefined && !this.#isPaused && this.#holds === 0) {
        if (this.#unanswered >= 2) {
          this.close(CLOSE_CODES.abnormal, 'The peer does not answer');
          return this.#socket.terminate();
        }
        this.#unanswered += 1;
        this.#socket.ping();
      }
      this.#ping();
      tick?.();
    });
  }

  #fail(thrown: unknown): void {
    const fault = thrown instanceof FrameFault ? thrown : new FrameFault(CLOSE_CODES.policy, 'The session broke');
    if (this.#fault !== undefined) return;
    if (fault.code === CLOSE_CODES.abnormal) this.#socket.terminate();
    else this.#socket.close(fault.code, fault.message);
    this.#end(fault);
  }

  #end(fault: FrameFault): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    this.#queue = [];
    this.#first = 0;
    this.#stopPing?.();
    this.#stopPause?.();
    this.#forgetArrival();
    this.#waiting?.reject(fault);
    this.#waiting = undefined;
    this.#check.releaseAll();
    this.#options.waiting?.forget(this);
    this.#options.onClose(fault);
  }
}
