import { nextTick } from 'node:process';
import type { Logger } from '../../telemetry/logger.js';
import { type AwaitedAnswer, dropUnlessTaken } from './answer.js';

/** Frames that are ready go out together, up to about this many characters in one write. */
const WRITE_SIZE = 65_536;

/** Options of a response stream. */
export interface ResponseStreamOptions extends AwaitedAnswer {
  readonly frames: AsyncIterable<string>;
  readonly logger: Logger;
  /** Called once, when nothing more will be written. */
  readonly done: () => void;
}

/**
 * Writes a stream of frames to a response with a complete head. Pulls as fast as the peer reads. Joins all frames of
 * one turn of the event loop into one write. Releases the frames when the peer goes away.
 */
export class ResponseStream {
  readonly #options: ResponseStreamOptions;
  readonly #frames: AsyncIterator<string>;
  #pending = '';
  #flushing = false;
  #begun = false;
  #over = false;
  #blocked = false;
  #unblock: (() => void) | undefined;

  constructor(options: ResponseStreamOptions) {
    this.#options = options;
    this.#frames = options.frames[Symbol.asyncIterator]();
    options.response.once('close', this.#onClose).on('drain', this.#onDrain);
    this.#flushSoon();
    void this.#pump();
  }

  /** True if the stream uses this connection. */
  isOn(socket: unknown): boolean {
    return this.#options.response.socket === socket;
  }

  /** Ends the stream between two frames, as a server does that shuts down. */
  stop(): void {
    if (this.#over) return;
    this.#finish();
    this.#release();
  }

  async #pump(): Promise<void> {
    try {
      while (!this.#over) {
        if (this.#blocked) await this.#room();
        const next = await this.#frames.next();
        if (this.#over) return;
        if (next.done === true) return this.#finish();
        this.#pending += next.value;
        if (this.#pending.length >= WRITE_SIZE) this.#write();
        else if (!this.#flushing) this.#flushSoon();
      }
    } catch (error) {
      if (this.#over) return;
      // The peer must see that the stream broke: a clean end would look like the whole answer.
      this.#options.logger.error('A stream failed', { error });
      this.#options.response.destroy();
    }
  }

  /** Runs after the promises that are settled now, so that all frames at hand are in one write. */
  #flushSoon(): void {
    this.#flushing = true;
    nextTick(this.#flush);
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    if (this.#over) return;
    if (this.#pending !== '') this.#write();
    else if (!this.#begun) this.#options.response.flushHeaders();
    this.#begun = true;
  };

  #write(): void {
    const text = this.#pending;
    this.#pending = '';
    if (!this.#options.response.write(text)) this.#blocked = true;
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = dropUnlessTaken(this.#options);
      const unblock = () => {
        cancel();
        resolve();
      };
      this.#unblock = unblock;
    });
  }

  readonly #onDrain = (): void => {
    this.#blocked = false;
    this.#unblock?.();
    this.#unblock = undefined;
  };

  readonly #onClose = (): void => {
    const ended = this.#over;
    this.#over = true;
    this.#onDrain();
    this.#options.response.off('drain', this.#onDrain);
    if (!ended) this.#release();
    this.#options.done();
  };

  #finish(): void {
    this.#over = true;
    this.#options.response.end(this.#pending);
    this.#pending = '';
    this.#onDrain();
  }

  #release(): void {
    this.#frames.return?.().catch((error: unknown) => {
      this.#options.logger.error('A stream failed while it was closed', { error });
    });
  }
}
