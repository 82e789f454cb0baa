import type { LinkedList, Place } from '../../runtime/linked-list.js';
import type { Logger } from '../../telemetry/logger.js';
import { type AwaitedAnswer, dropUnlessTaken } from './answer.js';

/** Options of a response stream. */
interface ResponseStreamOptions extends AwaitedAnswer {
  readonly frames: AsyncIterable<string>;
  readonly logger: Logger;
  /** The open streams of the server. The stream is one of them until its response is closed. */
  readonly streams?: LinkedList<ResponseStream> | undefined;
}

/**
 * Writes a stream of frames to a response with a complete head, each string at once. Pulls as fast as the peer reads.
 * Releases the frames when the peer disconnects.
 */
export class ResponseStream {
  readonly #options: ResponseStreamOptions;
  readonly #frames: AsyncIterator<string>;
  #begun = false;
  #over = false;
  #blocked = false;
  #unblock: (() => void) | undefined;
  readonly #place: Place<ResponseStream> | undefined;

  constructor(options: ResponseStreamOptions) {
    const { response, clock } = options;
    this.#options = options;
    this.#frames = options.frames[Symbol.asyncIterator]();
    response.once('close', this.#onClose).on('drain', this.#onDrain);
    // The head is sent together with the first frame, if that comes soon.
    clock.soon(() => {
      if (!this.#begun && !this.#over) response.flushHeaders();
    });
    void this.#pump();
    this.#place = options.streams?.add(this);
  }

  /** True if the stream uses this connection. */
  isOn(socket: unknown): boolean {
    return this.#options.response.socket === socket;
  }

  /** Ends the stream between two frames, for a shutdown. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.response.end();
    this.#onDrain();
    this.#release();
  }

  async #pump(): Promise<void> {
    const { response, logger } = this.#options;
    try {
      while (!this.#over) {
        if (this.#blocked) await this.#room();
        const next = await this.#frames.next();
        if (this.#over) return;
        if (next.done === true) {
          this.#over = true;
          response.end();
          return;
        }
        this.#begun = true;
        this.#blocked = !response.write(next.value);
      }
    } catch (error) {
      if (this.#over) return;
      // The connection is cut, because a clean end would look like a complete answer.
      logger.error('A stream failed', { error });
      response.destroy();
    }
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
    if (this.#place !== undefined) this.#options.streams?.remove(this.#place);
  };

  #release(): void {
    this.#frames.return?.().catch((error: unknown) => {
      this.#options.logger.error('A stream failed while it was closed', { error });
    });
  }
}
