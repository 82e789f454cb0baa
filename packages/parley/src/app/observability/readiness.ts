import { StorageError } from '../../errors/storage-error.js';
import type { Clock } from '../../runtime/clock.js';
import type { StorageLoad, TaskStorage } from '../../store/task-storage.js';
import type { Logger } from '../../telemetry/logger.js';

/** A check of something that the server depends on. */
export interface ReadinessCheck {
  readonly name: string;
  /** True if the server cannot work without it. The report shows other failures, and the server stays ready. */
  readonly required: boolean;
  /** Rejects when it does not work. */
  check(): Promise<unknown>;
}

/** The sources of readiness. */
interface ReadinessOptions {
  readonly storage: TaskStorage;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves when the agents can take messages. */
  readonly started: () => Promise<void>;
  /** True from the beginning of a stop on. The server is then not ready, for good. */
  readonly isDraining: () => boolean;
  /** Beside the agents and their storage. */
  readonly checks: readonly ReadinessCheck[];
}

/** The result of one check. */
interface ReadinessState {
  readonly status: 'ok' | 'failing';
  readonly required: boolean;
  /** The reason of a failure, if readers may know it. The log has more. */
  readonly reason?: string;
}

/** The answer of `/readyz`. */
export interface ReadinessReport {
  readonly status: 'ready' | 'not ready' | 'draining';
  /** The names of the failing checks that are required. */
  readonly notReady: readonly string[];
  readonly checks: Readonly<Record<string, ReadinessState>>;
  /** The failures that a committed write survives. */
  readonly durability: TaskStorage['durability'];
  /** Warnings for the operator of a server that is ready. */
  readonly warnings: readonly string[];
}

/** Probes come from several sides at once; one look serves all of them. */
const FRESH_MS = 1_000;
/** A check that takes longer counts as failed. */
const PATIENCE_MS = 2_000;

const RELAXED: Readonly<Record<TaskStorage['durability'], readonly string[]>> = {
  'power-loss': [],
  process: ['Tasks survive the end of the process, but not the loss of power'],
  none: ['Tasks are kept in memory, and survive nothing'],
};

/** The readiness of a server: its agents have started, its storage takes writes, and it is not about to stop. */
export class Readiness {
  readonly #options: ReadinessOptions;
  readonly #checks: readonly ReadinessCheck[];
  readonly #failing = new Set<string>();
  #last: { readonly at: number; readonly states: Promise<Readonly<Record<string, ReadinessState>>> } | undefined;
  #load: StorageLoad | undefined;

  constructor(options: ReadinessOptions) {
    const { storage, started, checks } = options;
    this.#options = options;
    this.#checks = [
      { name: 'agents', required: true, check: started },
      { name: 'storage', required: true, check: async () => (this.#load = await storage.check()) },
      ...checks,
    ];
  }

  /** The state of the server, at most a second old. */
  async report(): Promise<ReadinessReport> {
    const checks = await this.#states();
    const failing = Object.keys(checks).filter((name) => checks[name]?.status === 'failing' && checks[name].required);
    const isDraining = this.#options.isDraining();
    const notReady = isDraining ? ['server', ...failing] : failing;
    const status = isDraining ? 'draining' : notReady.length > 0 ? 'not ready' : 'ready';
    const { durability, warnings = [] } = this.#options.storage;
    const { unreadable: count = 0 } = this.#load ?? {};
    const unreadable = count === 0 ? [] : [`${count} tasks cannot be read: see the log`];
    return { status, notReady, checks, durability, warnings: [...RELAXED[durability], ...warnings, ...unreadable] };
  }

  /** The work that waits in the storage, at most a second old; `undefined` if the storage fails. */
  async load(): Promise<StorageLoad | undefined> {
    const { storage } = await this.#states();
    return storage?.status === 'ok' ? this.#load : undefined;
  }

  #states(): Promise<Readonly<Record<string, ReadinessState>>> {
    const now = this.#options.clock.monotonic();
    if (this.#last === undefined || now - this.#last.at >= FRESH_MS) this.#last = { at: now, states: this.#look() };
    return this.#last.states;
  }

  async #look(): Promise<Readonly<Record<string, ReadinessState>>> {
    const states = await Promise.all(this.#checks.map((check) => this.#stateOf(check)));
    return Object.fromEntries(this.#checks.map(({ name }, at) => [name, states[at] as ReadinessState]));
  }

  async #stateOf({ name, required, check }: ReadinessCheck): Promise<ReadinessState> {
    const { clock } = this.#options;
    let stopTimer = () => {};
    const late = new Promise((_, reject) => {
      const reason = `it did not answer in ${PATIENCE_MS} ms`;
      stopTimer = clock.after(PATIENCE_MS, () => reject(new StorageError(`${name}: ${reason}`, { reason })));
    });
    try {
      await Promise.race([check(), late]);
      this.#changed(name, undefined);
      return { status: 'ok', required };
    } catch (error) {
      this.#changed(name, error);
      const { reason } = error instanceof StorageError ? error : {};
      return { status: 'failing', required, ...(reason !== undefined && { reason }) };
    } finally {
      stopTimer();
    }
  }

  /** Told once, not with every probe. */
  #changed(name: string, error: unknown): void {
    if (this.#failing.has(name) === (error !== undefined)) return;
    const { logger } = this.#options;
    if (error === undefined) {
      this.#failing.delete(name);
      logger.info('a readiness check is right again', { check: name });
    } else {
      this.#failing.add(name);
      logger.warn('a readiness check fails', { check: name, error });
    }
  }
}
