import type { Histogram, InstrumentOptions, Meter, Observe } from './meter.js';
import { METRICS } from './metric-names.js';
import type { CacheFigures, ProcessFigures, PushFigures, ReplicaFigures, WaitingFigures } from './server-figures.js';

/** Sources of the figures of a server, other than its requests. */
export interface LoadSources {
  /** The number of running turns of each agent, by its id. */
  readonly runningTurns: () => Iterable<readonly [agent: string, turns: number]>;
  readonly openStreams: () => number;
  /** The amount of waiting work in the storage. `undefined` if the storage fails. */
  readonly waiting: () => Promise<WaitingFigures | undefined>;
  /** Absent if the storage belongs to one process. */
  readonly replica?: (() => ReplicaFigures) | undefined;
  readonly cache?: (() => CacheFigures) | undefined;
  readonly process?: ProcessFigures | undefined;
  readonly push?: (() => PushFigures) | undefined;
}

/** Metrics that are measured on demand: running turns, open streams, waiting messages, resources of the process. */
export class LoadMetrics {
  readonly #commits: readonly Histogram[];
  readonly #forget: (() => void)[] = [];

  constructor(meters: readonly Meter[], sources: LoadSources) {
    this.#commits = meters.map((meter) => meter.createHistogram(METRICS.commitSize.name, METRICS.commitSize));
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
    this.#gauge(meter, METRICS.tasksInProgress, (observation) => {
      for (const [agent, turns] of runningTurns()) observation.observe(turns, { agent });
    });
    this.#gauge(meter, METRICS.streamsOpen, (observation) => observation.observe(openStreams()));
    this.#gauge(meter, METRICS.messagesWaiting, async (observation) => {
      const load = await waiting();
      if (load !== undefined) observation.observe(load.waiting);
    });
    this.#gauge(meter, METRICS.oldestMessage, async (observation) => {
      const load = await waiting();
      if (load?.oldestWaitMs !== undefined || load?.waiting === 0)
        observation.observe((load.oldestWaitMs ?? 0) / 1_000);
    });
    this.#gauge(meter, METRICS.unreadable, async (observation) => {
      const load = await waiting();
      if (load !== undefined) observation.observe(load.unreadable ?? 0);
    });
    this.#gauge(meter, METRICS.pushPending, async (observation) => {
      const queues = (await waiting())?.pendingDeliveries;
      if (queues !== undefined) observation.observe(queues);
    });
    this.#gauge(meter, METRICS.pushOldestDue, async (observation) => {
      const load = await waiting();
      if (load?.pendingDeliveries !== undefined) observation.observe((load.oldestDueMs ?? 0) / 1_000);
    });
  }

  #replica(meter: Meter, replica: () => ReplicaFigures): void {
    this.#observe(meter.createObservableCounter(METRICS.leasesLost.name, METRICS.leasesLost), (observation) =>
      observation.observe(replica().leasesLost),
    );
    this.#observe(meter.createObservableCounter(METRICS.takeovers.name, METRICS.takeovers), (observation) =>
      observation.observe(replica().takeovers),
    );
    this.#gauge(meter, METRICS.streamsLag, (observation) => observation.observe(replica().lagMs / 1_000));
  }

  #cache(meter: Meter, cache: () => CacheFigures): void {
    this.#observe(meter.createObservableCounter(METRICS.cacheReads.name, METRICS.cacheReads), (observation) => {
      const { hits, misses } = cache();
      observation.observe(hits, { result: 'hit' });
      observation.observe(misses, { result: 'miss' });
    });
  }

  #push(meter: Meter, push: () => PushFigures): void {
    this.#observe(meter.createObservableCounter(METRICS.pushAttempts.name, METRICS.pushAttempts), (observation) => {
      const { delivered, failed } = push();
      observation.observe(delivered, { result: 'delivered' });
      observation.observe(failed, { result: 'failed' });
    });
    this.#observe(meter.createObservableCounter(METRICS.pushParked.name, METRICS.pushParked), (observation) =>
      observation.observe(push().parked),
    );
    this.#gauge(meter, METRICS.pushInFlight, (observation) => observation.observe(push().inFlight));
    this.#gauge(meter, METRICS.pushOldestWait, (observation) => observation.observe(push().oldestWaitMs / 1_000));
  }

  #process(meter: Meter, process: ProcessFigures): void {
    this.#gauge(meter, METRICS.memory, (observation) => observation.observe(process.memory().rss));
    this.#gauge(meter, METRICS.heap, (observation) => {
      const { heapUsed, heapTotal } = process.memory();
      observation.observe(heapUsed, { state: 'used' });
      observation.observe(heapTotal, { state: 'total' });
    });
    this.#gauge(meter, METRICS.uptime, (observation) => observation.observe(process.uptime()));
    this.#observe(meter.createObservableCounter(METRICS.cpu.name, METRICS.cpu), (observation) =>
      observation.observe(process.cpu()),
    );
    this.#gauge(meter, METRICS.eventLoopDelay, (observation) => {
      const delay = process.eventLoopDelay();
      for (const statistic of ['mean', 'p50', 'p99', 'max'] as const) {
        observation.observe(delay[statistic], { statistic });
      }
    });
  }

  #gauge(
    meter: Meter,
    metric: Pick<InstrumentOptions, 'unit' | 'description'> & { readonly name: string },
    observe: Observe,
  ): void {
    this.#observe(meter.createObservableGauge(metric.name, metric), observe);
  }

  #observe(instrument: ReturnType<Meter['createObservableGauge']>, observe: Observe): void {
    instrument.addCallback(observe);
    this.#forget.push(() => instrument.removeCallback(observe));
  }
}
