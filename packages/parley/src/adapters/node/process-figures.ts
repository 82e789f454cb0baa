import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import type { Clock } from '../../runtime/clock.js';
import type { DelayFigures, MemoryFigures, ProcessFigures } from '../../telemetry/server-figures.js';

/** The sampling interval of the event loop. Its delay is the excess over this interval. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 60_000;

/** The metrics of this process. Its event loop is monitored from `start` to `close`. */
export class NodeProcessFigures implements ProcessFigures {
  readonly pid = process.pid;
  readonly #clock: Clock;
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Starts the monitor. */
  start(): void {
    this.#delays.enable();
  }

  memory(): MemoryFigures {
    const { rss, heapUsed, heapTotal } = process.memoryUsage();
    return { rss, heapUsed, heapTotal };
  }

  cpu(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }

  uptime(): number {
    return process.uptime();
  }

  eventLoopDelay(): DelayFigures {
    const delays = this.#delays;
    const figures =
      delays.count === 0
        ? { mean: 0, p50: 0, p99: 0, max: 0 }
        : {
            mean: secondsOf(delays.mean),
            p50: secondsOf(delays.percentile(50)),
            p99: secondsOf(delays.percentile(99)),
            max: secondsOf(delays.max),
          };
    const now = this.#clock.monotonic();
    if (now - this.#since >= WINDOW_MS) {
      delays.reset();
      this.#since = now;
    }
    return figures;
  }

  /** Stops the monitor. */
  close(): void {
    this.#delays.disable();
  }
}

/** Converts ns of the histogram, which include the interval, to the delay in seconds. */
function secondsOf(ns: number): number {
  return Math.max(0, ns / 1e9 - RESOLUTION_MS / 1e3);
}
