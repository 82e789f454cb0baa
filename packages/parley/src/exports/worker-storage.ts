import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StorageError, type StorageErrorOptions } from '../errors/storage-error.js';
import type { StorageAddress } from '../store/remote/storage-server.js';
import type { LogFields, Logger } from '../telemetry/logger.js';
import { nextDelay } from './restart-delay.js';
import type { ServedDatabase } from './served-database.js';

/** The variable with the address of the storage process, for workers and for that process. */
const ADDRESS = 'PARLEY_STORAGE_ADDRESS';
/** The variable of the storage process: `void`, or the number of workers that may have leases. */
const LEASES = 'PARLEY_STORAGE_LEASES';
const PROGRAM = new URL('./worker-storage-process.js', import.meta.url);
/** Minimum lifetime in ms of a process that had opened the storage. All workers wait for the next one. */
const STABLE_MS = 1_000;

/** Messages between the first process and the storage process. */
export type FromStorage =
  | 'ready'
  | { readonly failed: string; readonly fault?: StorageErrorOptions['fault'] }
  | { readonly level: keyof Logger; readonly text: string; readonly fields?: LogFields };
export type ToStorage = 'stop';

/** The storage process, for a worker. */
interface WorkerStorageAddress extends StorageAddress {
  /** The path of its file. */
  readonly file?: string;
  /** The number of the server that has this storage. */
  readonly server?: number;
}

/** Options of the storage process. */
interface StorageProcessOptions {
  readonly database: ServedDatabase;
  /** The number of the server that has the storage, in the order in which the program makes servers. */
  readonly server?: number | undefined;
  /** The number of workers. */
  readonly workers: number;
  /** Writes the lines of the storage process. */
  readonly logger: Logger;
  /** Called after each process that ended by itself, with the delay until its restart. */
  readonly onDeath: (reason: string, inMs: number) => void;
}

/**
 * The process that has the storage of all workers. The first process starts it, and starts another one when it ends by
 * itself.
 */
export class StorageProcess {
  readonly #options: StorageProcessOptions;
  readonly #address: WorkerStorageAddress;
  /** A folder of this user only, with the socket. On Windows the token alone protects a pipe. */
  readonly #folder = process.platform === 'win32' ? undefined : mkdtempSync(join(tmpdir(), 'parley-storage-'));
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #delayMs = 0;
  #isStopping = false;

  constructor(options: StorageProcessOptions) {
    const { database, server } = options;
    this.#options = options;
    const token = randomBytes(32).toString('hex');
    const path =
      this.#folder === undefined ? `\\\\.\\pipe\\parley-${token.slice(0, 32)}` : join(this.#folder, 'storage');
    this.#address = {
      path,
      token,
      ...(database.backend === 'sqlite' && { file: database.path }),
      ...(server !== undefined && { server }),
    };
  }

  /** The variables for a worker. */
  get env(): Readonly<Record<string, string>> {
    return { [ADDRESS]: JSON.stringify(this.#address) };
  }

  /**
   * Resolves when workers can connect.
   * @throws StorageError if the storage cannot be opened.
   */
  async start(): Promise<void> {
    const child = this.#fork('void');
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message: FromStorage) => {
        if (message === 'ready') resolve();
        else if ('failed' in message) reject(new StorageError(message.failed, { fault: message.fault }));
      });
      child.once('exit', (code) => {
        if (this.#isStopping) resolve();
        else reject(new StorageError(`The storage process ended with ${code}`));
      });
    });
    if (!hasEnded(child)) this.#replaceAtEnd(child);
  }

  /** Closes the storage, after the workers. Several calls end together. */
  async close(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child !== undefined && !hasEnded(child)) {
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      if (child.connected) {
        child.send('stop' satisfies ToStorage, () => {});
        // A process that does not listen to messages yet learns of the end of the channel.
        child.disconnect();
      }
      await ended;
    }
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  #fork(leases: string): ChildProcess {
    const { database, logger } = this.#options;
    const child = fork(fileURLToPath(PROGRAM), [JSON.stringify(database)], {
      env: { ...process.env, ...this.env, [LEASES]: leases },
      // Errors in log lines keep their stacks.
      serialization: 'advanced',
    });
    child.on('message', (message: FromStorage) => {
      if (typeof message === 'object' && 'level' in message) logger[message.level](message.text, message.fields);
    });
    this.#child = child;
    return child;
  }

  #replaceAtEnd(child: ChildProcess): void {
    const startedAt = performance.now();
    child.once('exit', (code, signal) => {
      if (this.#isStopping) return;
      this.#delayMs = nextDelay(this.#delayMs, performance.now() - startedAt, STABLE_MS);
      this.#options.onDeath(`the storage process ${child.pid} ended with ${signal ?? `code ${code}`}`, this.#delayMs);
      this.#timer = setTimeout(() => this.#replaceAtEnd(this.#fork(String(this.#options.workers))), this.#delayMs);
    });
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** The address of the storage process, if this process has one. Programs that it starts do not see it. */
export function addressOfStorage(): WorkerStorageAddress | undefined {
  const text = process.env[ADDRESS];
  delete process.env[ADDRESS];
  return text === undefined ? undefined : (JSON.parse(text) as WorkerStorageAddress);
}

/** The leases of earlier processes, in the storage process. */
export function leasesOfStorage(): string {
  return process.env[LEASES] ?? 'void';
}
