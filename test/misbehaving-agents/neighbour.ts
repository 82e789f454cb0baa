import { expect } from 'vitest';
import { Caller, saysOf, stateOf } from './caller.js';

const CLIENTS = 2;

/** Callers of the agent that behaves, at it all the time: whatever goes on beside it, they get what they asked for. */
export class Neighbour {
  readonly latencies: number[] = [];
  readonly #caller: Caller;
  readonly #running: Promise<unknown>;
  #stopped = false;

  constructor(address: string) {
    this.#caller = new Caller(address, 'good');
    this.#running = Promise.all(Array.from({ length: CLIENTS }, () => this.#client()));
    this.#running.catch(() => {});
  }

  /** Stops, and fails if anything was not as it should be. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    expect(this.latencies.length).toBeGreaterThan(0);
  }

  async #client(): Promise<void> {
    for (let call = 0; !this.#stopped; call += 1) {
      const started = performance.now();
      if (call % 2 === 0) {
        const task = await this.#caller.send(`call ${call}`);
        expect([stateOf(task), saysOf(task)]).toEqual(['COMPLETED', 'done']);
        expect(task.artifacts?.[0]?.parts.map(({ text }) => text).join('')).toBe(`You said call ${call}`);
      } else {
        expect((await this.#caller.stream(`call ${call}`)).states).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED']);
      }
      this.latencies.push(performance.now() - started);
      // Traffic, not load: the machine has other things to do.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
