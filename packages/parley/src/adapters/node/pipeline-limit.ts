import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** At most so many requests of one connection may wait behind the one that is being answered. */
const MOST_PIPELINED = 64;

/**
 * Limits the pipelined requests of one connection. The server works on all of them and holds their answers until their
 * turn.
 */
export class PipelineLimit {
  readonly #waiting = new WeakMap<Socket, number>();

  /**
   * Admits a request that waits for its turn. Refuses the first one over the limit, which also ends the connection.
   * Drops all later ones.
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
