import type { WakeupListener, Wakeups } from '../src/store/wakeups.js';

/** The fate of a wake-up. `hold`: it arrives when the test says so. */
export type WakeupFate = 'deliver' | 'lose' | 'repeat' | 'hold';

/** Wake-ups as a process receives them: some are lost, late, or come twice. */
export class FaultyWakeups implements Wakeups {
  readonly #inner: Wakeups;
  readonly #fate: () => WakeupFate;
  #held: (() => void)[] = [];

  constructor(inner: Wakeups, fate: () => WakeupFate) {
    this.#inner = inner;
    this.#fate = fate;
  }

  /** Count of wake-ups that wait. */
  get held(): number {
    return this.#held.length;
  }

  /** All that wait arrive, the last one first. */
  release(): void {
    const held = this.#held;
    this.#held = [];
    for (const deliver of held.reverse()) deliver();
  }

  subscribe(listener: Partial<WakeupListener>): () => void {
    return this.#inner.subscribe({
      taskChanged: (key) => this.#receive(() => listener.taskChanged?.(key)),
      workReady: (agent) => this.#receive(() => listener.workReady?.(agent)),
      cancelAsked: (key) => this.#receive(() => listener.cancelAsked?.(key)),
      deliveryReady: (agent) => this.#receive(() => listener.deliveryReady?.(agent)),
    });
  }

  taskChanged: Wakeups['taskChanged'] = (key) => this.#inner.taskChanged(key);
  workReady: Wakeups['workReady'] = (agent) => this.#inner.workReady(agent);
  cancelAsked: Wakeups['cancelAsked'] = (key) => this.#inner.cancelAsked(key);
  deliveryReady: Wakeups['deliveryReady'] = (agent) => this.#inner.deliveryReady(agent);

  #receive(deliver: () => void): void {
    const fate = this.#fate();
    if (fate === 'lose') return;
    if (fate === 'hold') return void this.#held.push(deliver);
    deliver();
    if (fate === 'repeat') deliver();
  }
}
