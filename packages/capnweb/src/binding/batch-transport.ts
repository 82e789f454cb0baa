import { A2AError } from 'parley-a2a/kit';
import { FrameCheck, FrameFault, type FrameLimits, tooManyItems } from './frame-check.js';
import { holdsTooMuch } from './socket-transport.js';

/** The bounds of a batch. */
interface BatchTransportOptions {
  readonly limits: FrameLimits;
  /** Maximum number of frames in the request. */
  readonly frames: number;
}

/** The transport of a session with one request and one answer, whose lines are frames. */
export class BatchTransport {
  readonly encodingLevel = 'jsonCompatible';
  readonly #check: FrameCheck;
  readonly #received: unknown[] = [];
  readonly #sent: string[] = [];
  readonly #all = Promise.withResolvers<void>();
  #next = 0;
  #broken: PromiseWithResolvers<never> | undefined;

  /** @throws A2AError */
  constructor(text: string, { limits, frames }: BatchTransportOptions) {
    this.#check = new FrameCheck(limits);
    const lines = text.split('\n', frames + 2).filter((line) => line !== '');
    if (lines.length > frames) {
      const details = { metadata: { limit: 'batchFrames' } };
      throw new A2AError('INVALID_REQUEST', `A batch has at most ${frames} frames`, details);
    }
    try {
      for (const line of lines) {
        if (holdsTooMuch(line, limits)) throw tooManyItems();
        const frame = parseLine(line);
        this.#check.receive(frame, line.length);
        this.#received.push(frame);
      }
    } catch (fault) {
      if (!(fault instanceof FrameFault)) throw fault;
      const details = fault.limit === 'jsonItems' ? { metadata: { limit: fault.limit } } : {};
      throw new A2AError('INVALID_REQUEST', fault.message, details);
    }
    this.#all.promise.catch(() => {});
  }

  /** Resolves when the session has received all frames. Rejects if it fails. */
  get allReceived(): Promise<void> {
    return this.#all.promise;
  }

  /** The frames of the answer so far. */
  answer(): string {
    return this.#sent.join('\n');
  }

  send(frame: unknown): number {
    const text = JSON.stringify(frame);
    this.#sent.push(text);
    return text.length;
  }

  receive(): Promise<unknown> {
    if (this.#next < this.#received.length) return Promise.resolve(this.#received[this.#next++]);
    this.#all.resolve();
    this.#broken ??= Promise.withResolvers<never>();
    return this.#broken.promise;
  }

  abort(): void {
    this.#all.reject(new A2AError('INVALID_REQUEST', 'The batch is not valid'));
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new A2AError('PARSE_ERROR', 'A line of the batch is not JSON');
  }
}
