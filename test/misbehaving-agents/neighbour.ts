import { expect } from 'vitest';
import { Caller, saysOf, stateOf } from './caller.js';

const CLIENTS = 2;

/** Callers of the well-behaved agent. Their calls must succeed all the time, beside any misbehaving agent. */
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

  /** Stops the calls. Throws if an answer was wrong. */
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
