import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of requests of one connection that wait behind the one that is being answered. */
const MOST_PIPELINED = 64;

/**
 * Limits the pipelined requests of one connection. The server handles all of them at once, and sends their answers in
 * order.
 */
export class PipelineLimit {
  readonly #waiting = new WeakMap<Socket, number>();

  /**
   * Admits a pipelined request. Refuses the first one over the limit, which also closes the connection. Drops all later
   * ones.
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
