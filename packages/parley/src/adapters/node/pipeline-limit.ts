import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** At most so many requests of one connection may wait behind the one that is being answered. */
export const MOST_PIPELINED = 64;

/**
 * Bounds what one connection can start at once: requests sent without waiting for answers are all worked on, and their answers held
 * until it is their turn.
 */
export class PipelineLimit {
  readonly #waiting = new WeakMap<Socket, number>();

  /**
   * Counts in a request that has to wait for its turn. The first one too many is to be refused, and with it the connection ends;
   * what comes after it is to be dropped.
   */
  admit(response: ServerResponse): 'admitted' | 'refused' | 'dropped' {
    const { socket } = response.req;
    const waiting = this.#waiting.get(socket) ?? 0;
    if (waiting > MOST_PIPELINED) return 'dropped';
    this.#waiting.set(socket, waiting + 1);
    if (waiting === MOST_PIPELINED) return 'refused';
    response.once('close', () => this.#leave(socket));
    return 'admitted';
  }

  #leave(socket: Socket): void {
    const waiting = this.#waiting.get(socket) ?? 0;
    if (waiting <= MOST_PIPELINED) this.#waiting.set(socket, waiting - 1);
  }
}
