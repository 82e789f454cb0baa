import { randomBytes } from 'node:crypto';
import { WORKLOADS, type WorkloadName } from '../workloads.js';
import { deepFaultOf, faultOf } from './answer-check.js';
import type { HttpAnswer } from './answer-reader.js';
import { Connection, type ConnectionOwner } from './connection.js';
import { RequestBytes } from './request-bytes.js';

/** The requests of a load, and its duration. */
export interface LoadOrder {
  readonly workload: WorkloadName;
  readonly port: number;
  readonly connections: number;
  /** Further lines of the head of each request. */
  readonly headers?: readonly string[];
  /**
   * The warm-up has the same load as the measurement. It takes at least `min` and at most `max`, until there are enough
   * answers.
   */
  readonly warmUpSeconds: { readonly min: number; readonly max: number };
  readonly seconds: number;
}

/** The result of a load. */
export interface LoadResult {
  /** Answers that were complete within the time measured. */
  readonly answers: number;
  readonly seconds: number;
  /** From the first byte written to the last byte read, ms. */
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly faults: number;
  /** The first few of them. */
  readonly examples: readonly string[];
}

/** One in so many answers is parsed and looked at as a whole. */
const DEEP_EVERY = 512;
const EXAMPLES = 3;
/** Longest time for the last answers. */
const LAST_ANSWERS_SECONDS = 10;

/** Loads a subject: warms it up, then measures, then lets the last answers come in. */
export class LoadRun implements ConnectionOwner {
  readonly #order: LoadOrder;
  #number = 0;
  #phase: 'warm-up' | 'measured' | 'over' = 'warm-up';
  #answers = 0;
  #micros: number[] = [];
  #faults = 0;
  readonly #examples: string[] = [];

  constructor(order: LoadOrder) {
    this.#order = order;
  }

  /** `begun` and `ended` are called around the time that is measured. */
  async run({ begun, ended }: { begun: () => void; ended: () => void }): Promise<LoadResult> {
    const { workload, port, connections, seconds, headers } = this.#order;
    const id = randomBytes(6).toString('hex');
    const request = () => new RequestBytes(WORKLOADS[workload], { port, run: id, headers });
    const opened = Array.from({ length: connections }, () => new Connection(request(), this));
    this.#stayAwake();
    const allGone = Promise.all(opened.map((connection) => connection.run(port)));
    await Promise.race([this.#warmUp(), allGone]);
    begun();
    const start = performance.now();
    this.#phase = 'measured';
    await Promise.race([pause(seconds), allGone]);
    this.#phase = 'over';
    const elapsed = (performance.now() - start) / 1000;
    ended();
    await Promise.race([pause(LAST_ANSWERS_SECONDS), allGone]);
    for (const connection of opened) connection.giveUp();
    if (this.#answers === 0) this.failed('no answer within the time measured');
    return {
      answers: this.#answers,
      seconds: elapsed,
      latency: this.#latency(),
      faults: this.#faults,
      examples: this.#examples,
    };
  }

  nextNumber(): number | undefined {
    return this.#phase === 'over' ? undefined : ++this.#number;
  }

  answered(answer: HttpAnswer, number: number, micros: number): void {
    const { workload } = this.#order;
    const deep = number <= this.#order.connections || number % DEEP_EVERY === 0;
    const fault = faultOf(workload, number, answer) ?? (deep ? deepFaultOf(workload, answer) : undefined);
    if (fault !== undefined) return this.failed(fault);
    if (this.#phase !== 'measured') return;
    this.#answers++;
    this.#micros.push(micros);
  }

  failed(fault: string): void {
    this.#faults++;
    if (this.#examples.length < EXAMPLES) this.#examples.push(fault.slice(0, 2000));
  }

  async #warmUp(): Promise<void> {
    const { workload, warmUpSeconds } = this.#order;
    const start = performance.now();
    await pause(warmUpSeconds.min);
    while (this.#number < WORKLOADS[workload].warmUpAnswers && performance.now() - start < warmUpSeconds.max * 1000) {
      await pause(0.02);
    }
  }

  /** Keeps this process awake, because waking a sleeping process would cost CPU time of the subject. */
  #stayAwake(): void {
    if (this.#phase !== 'over') setImmediate(() => this.#stayAwake());
  }

  #latency(): LoadResult['latency'] {
    const sorted = Float64Array.from(this.#micros).sort();
    const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) / 1000;
    return { p50: at(0.5), p99: at(0.99) };
  }
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
