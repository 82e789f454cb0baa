import type { Clock } from '../../runtime/clock.js';
import type { FrameLink } from './frame-link.js';

/** Time limit for the answer of a process with its figures. */
const FIGURES_MS = 500;
/** The entry that asks a process for its figures. */
export const FIGURES_ASKED = 'figuresAsked';

/** A connected process. */
interface Sibling {
  readonly link: Pick<FrameLink, 'send'>;
}

/** Collects the figures of all processes for one of them. */
export class AskedSiblings {
  readonly #clock: Clock;
  readonly #clients: () => ReadonlySet<Sibling>;
  readonly #asked = new Map<number, (figures: unknown) => void>();
  #count = 0;

  constructor(clock: Clock, clients: () => ReadonlySet<Sibling>) {
    this.#clock = clock;
    this.#clients = clients;
  }

  /** Resolves to the figures of all processes that answer within the time limit. */
  async collect(): Promise<readonly unknown[]> {
    this.#count += 1;
    const asked = this.#count;
    const clients = [...this.#clients()];
    const given: unknown[] = [];
    await new Promise<void>((resolve) => {
      const stop = this.#clock.after(FIGURES_MS, resolve);
      this.#asked.set(asked, (figures) => {
        if (figures !== undefined) given.push(figures);
        if (given.length < clients.length) return;
        stop();
        resolve();
      });
      for (const { link } of clients) link.send(JSON.stringify([FIGURES_ASKED, asked]));
    });
    this.#asked.delete(asked);
    return given;
  }

  async give(asked: number, figures: unknown): Promise<void> {
    this.#asked.get(asked)?.(figures);
  }
}
