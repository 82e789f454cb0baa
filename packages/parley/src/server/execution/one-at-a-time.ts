import { LinkedList } from '../../runtime/linked-list.js';

/** A queue of jobs that run one at a time. The next one starts when the current one calls `leave`. */
export class OneAtATime {
  readonly #waiting = new LinkedList<(leave: () => void) => void>();
  #busy = false;

  enter(job: (leave: () => void) => void): void {
    this.#waiting.add(job);
    this.#next();
  }

  #next(): void {
    const place = this.#waiting.first;
    const job = place?.value;
    if (this.#busy || place === undefined || job === undefined) return;
    this.#waiting.remove(place);
    this.#busy = true;
    let left = false;
    job(() => {
      if (left) return;
      left = true;
      this.#busy = false;
      this.#next();
    });
  }
}
