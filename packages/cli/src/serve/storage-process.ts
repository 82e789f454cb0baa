import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'parley-a2a';
import { type StorageAddress, serveStorage } from 'parley-a2a/storage-process';
import { CliError } from '../failure/cli-error.js';
import { nextDelay } from './restart-delay.js';

/** The variable with the address of the storage process, for workers and for that process. */
const ADDRESS = 'PARLEY_STORAGE_ADDRESS';
/** The variable that marks the storage process: `void`, or the number of workers that may hold leases. */
const LEASES = 'PARLEY_STORAGE_LEASES';
/** All workers wait for the process. After this time in ms, it has opened the storage. */
const STABLE_MS = 1_000;
/** Time in ms that the storage process waits for the workers after its first process has ended. */
const ORPHAN_MS = 60_000;

type FromStorage = 'ready';
type ToStorage = 'stop';

/** Options of the storage process. */
interface StorageProcessOptions {
  /** The number of workers. */
  readonly workers: number;
  /** Called after each end of the process, with the delay until its restart. */
  readonly onDeath: (reason: string, inMs: number) => void;
}

/** The process with the storage of all workers. The first process starts it, and restarts it if it ends by itself. */
export class StorageProcess {
  readonly address: StorageAddress;
  readonly #options: StorageProcessOptions;
  /** A folder with the socket, accessible to this user only. On Windows only the token protects the pipe. */
  readonly #folder = process.platform === 'win32' ? undefined : mkdtempSync(join(tmpdir(), 'parley-storage-'));
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #delayMs = 0;
  #isStopping = false;

  constructor(options: StorageProcessOptions) {
    this.#options = options;
    const token = randomBytes(32).toString('hex');
    const path =
      this.#folder === undefined ? `\\\\.\\pipe\\parley-${token.slice(0, 32)}` : join(this.#folder, 'storage');
    this.address = { path, token };
  }

  /** The environment variables for a worker. */
  get env(): Readonly<Record<string, string>> {
    return { [ADDRESS]: JSON.stringify(this.address) };
  }

  /**
   * Resolves when workers can connect.
   * @throws CliError if the process ends before that. The process has printed the reason.
   */
  async start(): Promise<void> {
    const child = this.#fork('void');
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => {
        if (this.#isStopping) resolve();
        else reject(new CliError('A2ACLI_ERR_INTERNAL', `the storage process ended with ${code}`));
      });
    });
    if (child.exitCode === null && child.signalCode === null) this.#replaceAtEnd(child);
  }

  /** Closes the storage. Must be called after the workers have ended. */
  async close(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      // A process without a message handler yet notices the end of the channel.
      child.send('stop' satisfies ToStorage, () => {});
      child.disconnect();
      await ended;
    }
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  #fork(leases: string): ChildProcess {
    const [, script = '', ...args] = process.argv;
    const child = fork(script, args, { env: { ...process.env, ...this.env, [LEASES]: leases } });
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

/**
 * Returns the address of the storage process in a worker. Removes the variable, so that programs of the worker do not
 * get it.
 */
export function storageAddress(): StorageAddress | undefined {
  const text = process.env[ADDRESS];
  delete process.env[ADDRESS];
  return text === undefined ? undefined : (JSON.parse(text) as StorageAddress);
}

/** Returns the leases option in a storage process; `undefined` in any other process. */
export function storageRole(): string | undefined {
  return process.env[LEASES];
}

/** Serves the storage to the workers until the first process reports that all have ended, or has itself ended. */
export async function keepStorage(url: string, leases: string, logger: Logger): Promise<void> {
  const address = storageAddress();
  if (address === undefined) throw new CliError('A2ACLI_ERR_INTERNAL', `${ADDRESS} is missing`);
  // Signals of a terminal or a supervisor reach all processes. Ignored here, because the workers need the storage while
  // they drain.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  process.on('SIGHUP', () => {});
  const ended = new Promise<'stop' | 'orphan'>((resolve) => {
    process.on('message', (message) => {
      if (message === ('stop' satisfies ToStorage)) resolve('stop');
    });
    process.on('disconnect', () => resolve('orphan'));
    if (!process.connected) resolve('orphan');
  });
  const processes = leases === 'void' ? {} : { processes: Number(leases) };
  const server = await serveStorage({ ...address, ...processes, url, logger });
  process.send?.('ready' satisfies FromStorage, () => {});
  if ((await ended) === 'orphan') {
    const late = new Promise<void>((resolve) => void setTimeout(resolve, ORPHAN_MS).unref());
    await Promise.race([server.left(), late]);
    // The first process has ended, so it cannot remove the folder.
    if (process.platform !== 'win32') rmSync(join(address.path, '..'), { recursive: true, force: true });
  }
  await server.close();
  if (process.connected) process.disconnect();
}
