import type { Clock, Scope } from 'parley-a2a/storage-engine';
import type { RedisCalls } from './redis-calls.js';
import type { PlacedWakeups } from './redis-wakeups.js';
import { WorkPlaces } from './work-places.js';

/** Options of `ReadyWork`. */
interface ReadyWorkOptions {
  readonly calls: RedisCalls;
  readonly wakeups: PlacedWakeups;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly scanMs: number | undefined;
}

/** Claimable work: its partitions for the claims of this process, and its wake-ups for all processes. */
export class ReadyWork {
  readonly turns: WorkPlaces;
  readonly deliveries: WorkPlaces;
  readonly #calls: RedisCalls;
  readonly #wakeups: PlacedWakeups;

  constructor({ calls, wakeups, clock, scanMs }: ReadyWorkOptions) {
    const turns = new WorkPlaces(calls, { peek: 'peek', clock, scanMs });
    const deliveries = new WorkPlaces(calls, { peek: 'peekDeliveries', clock, scanMs });
    this.turns = turns;
    this.deliveries = deliveries;
    this.#calls = calls;
    this.#wakeups = wakeups;
    wakeups.watchPlaces?.((kind, agent, partition) =>
      (kind === 'workReady' ? turns : deliveries).ready(partition, agent),
    );
  }

  /** Must be called when a turn of this scope can be claimed. */
  turnReady(scope: Scope): void {
    const { partition } = this.#calls.keys.ofScope(scope);
    this.turns.ready(partition, scope.agent);
    this.#wakeups.workReady(scope.agent, partition);
  }

  /** Must be called when a delivery of this scope can be claimed. */
  deliveryReady(scope: Scope): void {
    const { partition } = this.#calls.keys.ofScope(scope);
    this.deliveries.ready(partition, scope.agent);
    this.#wakeups.deliveryReady(scope.agent, partition);
  }
}
