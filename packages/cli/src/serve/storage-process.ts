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
/** The variable that makes a process the storage process: `void`, or the number of workers that may have leases. */
const LEASES = 'PARLEY_STORAGE_LEASES';
/** All workers wait for the process. One that lived so long had opened the storage. */
const STABLE_MS = 1_000;
/** Without its first process, the storage process waits so long for the workers. */
const ORPHAN_MS = 60_000;

type FromStorage = 'ready';
type ToStorage = 'stop';

/** Options of the storage process. */
interface StorageProcessOptions {
  /** The number of workers. */
  readonly workers: number;
  /** Hears of each end of the process, and when the next one starts in its place. */
  readonly onDeath: (reason: string, inMs: number) => void;
}

/**
 * The process that has the storage of all workers. The first process starts it, and starts another one when it ends by
 * itself.
 */
export class StorageProcess {
  readonly address: StorageAddress;
  readonly #options: StorageProcessOptions;
  /** A folder of this user only, with the socket. On Windows the token alone protects a pipe. */
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

  /** The variables for a worker. */
  get env(): Readonly<Record<string, string>> {
    return { [ADDRESS]: JSON.stringify(this.address) };
  }

  /**
   * Resolves when workers can connect.
   * @throws CliError if the process ends before. It has told the reason.
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

  /** Closes the storage, after the workers. */
  async close(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      // A process that does not listen to messages yet hears of the end of the channel.
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

/** The address of the storage process, in a worker that has one. Programs that the worker starts do not see it. */
export function storageAddress(): StorageAddress | undefined {
  const text = process.env[ADDRESS];
  delete process.env[ADDRESS];
  return text === undefined ? undefined : (JSON.parse(text) as StorageAddress);
}

/** The leases of earlier processes, in a storage process; `undefined` in any other process. */
export function storageRole(): string | undefined {
  return process.env[LEASES];
}

/** Has the storage for the workers until the first process says that all have ended, or has ended itself. */
export async function keepStorage(url: string, leases: string, logger: Logger): Promise<void> {
  const address = storageAddress();
  if (address === undefined) throw new CliError('A2ACLI_ERR_INTERNAL', `${ADDRESS} is missing`);
  // Signals of a terminal or a supervisor reach all processes. The workers drain, and need the storage meanwhile.
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
    // The first process cannot remove the folder any more.
    if (process.platform !== 'win32') rmSync(join(address.path, '..'), { recursive: true, force: true });
  }
  await server.close();
  if (process.connected) process.disconnect();
}
