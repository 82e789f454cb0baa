import type { Histogram, Meter, Observe } from './meter.js';
import type { CacheFigures, ProcessFigures, PushFigures, ReplicaFigures, WaitingFigures } from './server-figures.js';

/** Sources of the figures of a server, other than its requests. */
export interface LoadSources {
  /** The number of running turns of each agent, by its id. */
  readonly runningTurns: () => Iterable<readonly [agent: string, turns: number]>;
  readonly openStreams: () => number;
  /** The work that waits in the storage. `undefined` if the storage fails. */
  readonly waiting: () => Promise<WaitingFigures | undefined>;
  /** Absent if the storage belongs to one process. */
  readonly replica?: (() => ReplicaFigures) | undefined;
  readonly cache?: (() => CacheFigures) | undefined;
  readonly process?: ProcessFigures | undefined;
  readonly push?: (() => PushFigures) | undefined;
}

const BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** Figures that are read on demand: running turns, open streams, waiting messages, resources of the process. */
export class LoadMetrics {
  readonly #commits: readonly Histogram[];
  readonly #forget: (() => void)[] = [];

  constructor(meters: readonly Meter[], sources: LoadSources) {
    this.#commits = meters.map((meter) =>
      meter.createHistogram('a2a.storage.commit.size', {
        description: 'Operations that shared a commit of the storage',
        unit: '{operation}',
        advice: { explicitBucketBoundaries: BATCHES },
      }),
    );
    for (const meter of meters) {
      this.#work(meter, sources);
      if (sources.replica !== undefined) this.#replica(meter, sources.replica);
      if (sources.cache !== undefined) this.#cache(meter, sources.cache);
      if (sources.process !== undefined) this.#process(meter, sources.process);
      if (sources.push !== undefined) this.#push(meter, sources.push);
    }
  }

  /** Records the number of operations in one commit. */
  readonly committed = (operations: number): void => {
    for (const histogram of this.#commits) histogram.record(operations);
  };

  /** Stops all observations. */
  close(): void {
    for (const forget of this.#forget.splice(0)) forget();
  }

  #work(meter: Meter, { runningTurns, openStreams, waiting }: LoadSources): void {
    this.#gauge(meter, ['a2a.server.turns.running', '{turn}', 'Turns of agents that run now'], (observation) => {
      for (const [agent, turns] of runningTurns()) observation.observe(turns, { agent });
    });
    this.#gauge(meter, ['a2a.server.streams.open', '{stream}', 'Event streams that are open now'], (observation) =>
      observation.observe(openStreams()),
    );
    const queue = ['a2a.server.messages.waiting', '{message}', 'Messages whose turn nobody runs yet'] as const;
    this.#gauge(meter, queue, async (observation) => {
      const load = await waiting();
      if (load !== undefined) observation.observe(load.waiting);
    });
    const age = ['a2a.server.messages.oldest_wait', 's', 'Age of the oldest message that could start'] as const;
    this.#gauge(meter, age, async (observation) => {
      const load = await waiting();
      if (load?.oldestWaitMs !== undefined || load?.waiting === 0)
        observation.observe((load.oldestWaitMs ?? 0) / 1_000);
    });
    const unreadable = ['a2a.storage.unreadable', '{task}', 'Tasks that this process could not read'] as const;
    this.#gauge(meter, unreadable, async (observation) => {
      const load = await waiting();
      if (load !== undefined) observation.observe(load.unreadable ?? 0);
    });
    const pending = ['a2a.push.pending', '{queue}', 'Push configurations with pending deliveries'] as const;
    this.#gauge(meter, pending, async (observation) => {
      const queues = (await waiting())?.pendingDeliveries;
      if (queues !== undefined) observation.observe(queues);
    });
    const due = ['a2a.push.oldest_due', 's', 'Time since the oldest pending delivery became due'] as const;
    this.#gauge(meter, due, async (observation) => {
      const load = await waiting();
      if (load?.pendingDeliveries !== undefined) observation.observe((load.oldestDueMs ?? 0) / 1_000);
    });
  }

  #replica(meter: Meter, replica: () => ReplicaFigures): void {
    const lost = { description: 'Turns that another process may have taken over', unit: '{turn}' };
    this.#observe(meter.createObservableCounter('a2a.server.leases.lost', lost), (observation) =>
      observation.observe(replica().leasesLost),
    );
    const taken = { description: 'Turns that this process took over from another one', unit: '{turn}' };
    this.#observe(meter.createObservableCounter('a2a.server.takeovers', taken), (observation) =>
      observation.observe(replica().takeovers),
    );
    const lag = 'Age of the oldest change of a watched task that was not read yet';
    this.#gauge(meter, ['a2a.server.streams.lag', 's', lag], (observation) =>
      observation.observe(replica().lagMs / 1_000),
    );
  }

  #cache(meter: Meter, cache: () => CacheFigures): void {
    const options = { description: 'Reads of the cache, by whether it had what was asked for', unit: '{read}' };
    this.#observe(meter.createObservableCounter('a2a.server.cache.reads', options), (observation) => {
      const { hits, misses } = cache();
      observation.observe(hits, { result: 'hit' });
      observation.observe(misses, { result: 'miss' });
    });
  }

  #push(meter: Meter, push: () => PushFigures): void {
    const attempts = { description: 'Attempts to deliver push notifications, by result', unit: '{attempt}' };
    this.#observe(meter.createObservableCounter('a2a.push.attempts', attempts), (observation) => {
      const { delivered, failed } = push();
      observation.observe(delivered, { result: 'delivered' });
      observation.observe(failed, { result: 'failed' });
    });
    const parked = { description: 'Push configurations that were parked after failed attempts', unit: '{queue}' };
    this.#observe(meter.createObservableCounter('a2a.push.parked', parked), (observation) =>
      observation.observe(push().parked),
    );
    this.#gauge(meter, ['a2a.push.in_flight', '{request}', 'Requests to webhooks under way'], (observation) =>
      observation.observe(push().inFlight),
    );
    const oldest = 'Time for which the oldest failing push configuration has waited';
    this.#gauge(meter, ['a2a.push.oldest_wait', 's', oldest], (observation) =>
      observation.observe(push().oldestWaitMs / 1_000),
    );
  }

  #process(meter: Meter, process: ProcessFigures): void {
    this.#gauge(meter, ['process.memory.usage', 'By', 'Memory of the process'], (observation) =>
      observation.observe(process.memory().rss),
    );
    this.#gauge(meter, ['process.memory.heap', 'By', 'Heap of the process, in use and taken'], (observation) => {
      const { heapUsed, heapTotal } = process.memory();
      observation.observe(heapUsed, { state: 'used' });
      observation.observe(heapTotal, { state: 'total' });
    });
    this.#gauge(meter, ['process.uptime', 's', 'How long the process has run'], (observation) =>
      observation.observe(process.uptime()),
    );
    this.#observe(
      meter.createObservableCounter('process.cpu.time', { description: 'CPU time of the process', unit: 's' }),
      (observation) => observation.observe(process.cpu()),
    );
    this.#gauge(meter, ['nodejs.eventloop.delay', 's', 'Delay of the event loop'], (observation) => {
      const delay = process.eventLoopDelay();
      for (const statistic of ['mean', 'p50', 'p99', 'max'] as const) {
        observation.observe(delay[statistic], { statistic });
      }
    });
  }

  #gauge(
    meter: Meter,
    [name, unit, description]: readonly [name: string, unit: string, description: string],
    observe: Observe,
  ): void {
    this.#observe(meter.createObservableGauge(name, { unit, description }), observe);
  }

  #observe(instrument: ReturnType<Meter['createObservableGauge']>, observe: Observe): void {
    instrument.addCallback(observe);
    this.#forget.push(() => instrument.removeCallback(observe));
  }
}
