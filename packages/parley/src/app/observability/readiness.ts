import type { Clock } from '../../runtime/clock.js';
import type { StorageLoad, TaskStorage } from '../../store/task-storage.js';
import type { Logger } from '../../telemetry/logger.js';

/** Something that a server works with, and whether it does its part. */
export interface ReadinessCheck {
  readonly name: string;
  /** Whether the server can answer nothing without it. What is not required is shown, and keeps nobody from being ready. */
  readonly required: boolean;
  /** Rejects when it does not work. */
  check(): Promise<unknown>;
}

/** What readiness is found out from. */
export interface ReadinessOptions {
  readonly storage: TaskStorage;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves when the agents can take messages. */
  readonly started: () => Promise<void>;
  /** Beside the agents and their storage. */
  readonly checks: readonly ReadinessCheck[];
}

/** What one part says. */
export interface ReadinessState {
  readonly status: 'ok' | 'failing';
  readonly required: boolean;
}

/** Whether to send requests here, and why not. */
export interface ReadinessReport {
  readonly status: 'ready' | 'not ready' | 'draining';
  /** What keeps the server from being ready, by name. */
  readonly notReady: readonly string[];
  readonly checks: Readonly<Record<string, ReadinessState>>;
  /** What a resolved write of the storage survives. */
  readonly durability: TaskStorage['durability'];
  /** What an operator should know although the server is ready. */
  readonly warnings: readonly string[];
}

/** Probes come from several sides at once; one look serves all of them. */
const FRESH_MS = 1_000;
/** A part that takes longer to answer does not work. */
const PATIENCE_MS = 2_000;

const RELAXED: Readonly<Record<TaskStorage['durability'], readonly string[]>> = {
  'power-loss': [],
  process: ['Tasks survive the end of the process, but not the loss of power'],
  none: ['Tasks are kept in memory, and survive nothing'],
};

/** Whether a server can do its work now: its agents started, its storage writable, and nobody about to stop it. */
export class Readiness {
  readonly #parts: ReadinessOptions;
  readonly #checks: readonly ReadinessCheck[];
  readonly #failing = new Set<string>();
  #last: { readonly at: number; readonly states: Promise<Readonly<Record<string, ReadinessState>>> } | undefined;
  #draining = false;
  #waiting: number | undefined;
  #unreadable = 0;

  constructor(parts: ReadinessOptions) {
    const { storage, started, checks } = parts;
    this.#parts = parts;
    this.#checks = [
      { name: 'agents', required: true, check: started },
      { name: 'storage', required: true, check: async () => this.#store(await storage.check()) },
      ...checks,
    ];
  }

  /** From now on it is not ready, for good. */
  drain(): void {
    this.#draining = true;
  }

  /** How things stand, at most a second ago. */
  async report(): Promise<ReadinessReport> {
    const checks = await this.#states();
    const failing = Object.keys(checks).filter((name) => checks[name]?.status === 'failing' && checks[name].required);
    const notReady = this.#draining ? ['server', ...failing] : failing;
    const status = this.#draining ? 'draining' : notReady.length > 0 ? 'not ready' : 'ready';
    const { durability } = this.#parts.storage;
    const unreadable = this.#unreadable === 0 ? [] : [`${this.#unreadable} tasks cannot be read: see the log`];
    return { status, notReady, checks, durability, warnings: [...RELAXED[durability], ...unreadable] };
  }

  /** Messages whose turn nobody runs yet, a second ago at most; `undefined` where the storage does not say. */
  async waiting(): Promise<number | undefined> {
    const { storage } = await this.#states();
    return storage?.status === 'ok' ? this.#waiting : undefined;
  }

  #store({ waiting, unreadable = 0 }: StorageLoad): void {
    this.#waiting = waiting;
    this.#unreadable = unreadable;
  }

  #states(): Promise<Readonly<Record<string, ReadinessState>>> {
    const now = this.#parts.clock.monotonic();
    if (this.#last === undefined || now - this.#last.at >= FRESH_MS) this.#last = { at: now, states: this.#look() };
    return this.#last.states;
  }

  async #look(): Promise<Readonly<Record<string, ReadinessState>>> {
    const states = await Promise.all(this.#checks.map((check) => this.#stateOf(check)));
    return Object.fromEntries(this.#checks.map(({ name }, at) => [name, states[at] as ReadinessState]));
  }

  async #stateOf({ name, required, check }: ReadinessCheck): Promise<ReadinessState> {
    const { clock } = this.#parts;
    let stopTimer = () => {};
    const late = new Promise((_, reject) => {
      stopTimer = clock.after(PATIENCE_MS, () => reject(new Error(`${name} did not answer in ${PATIENCE_MS} ms`)));
    });
    try {
      await Promise.race([check(), late]);
      this.#changed(name, undefined);
      return { status: 'ok', required };
    } catch (error) {
      this.#changed(name, error);
      return { status: 'failing', required };
    } finally {
      stopTimer();
    }
  }

  /** Told once, not with every probe. */
  #changed(name: string, error: unknown): void {
    if (this.#failing.has(name) === (error !== undefined)) return;
    const { logger } = this.#parts;
    if (error === undefined) {
      this.#failing.delete(name);
      logger.info('a readiness check is right again', { check: name });
    } else {
      this.#failing.add(name);
      logger.warn('a readiness check fails', { check: name, error });
    }
  }
}
