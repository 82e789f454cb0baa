import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { onFreePort } from './on-free-port.js';

/** A real redis-server on a port of its own, that can be killed, frozen and started again. */
export class RedisServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, settings: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#settings = settings;
  }

  /** Resolves when it accepts connections. `settings` as on its command line. */
  static async start(...settings: string[]): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-redis-'));
    return onFreePort((port) => new RedisServer(port, folder, settings));
  }

  /** The same for a server of a cluster, which listens on a second port. */
  static async startForCluster(...settings: string[]): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-redis-'));
    return onFreePort(async (port) => {
      const bus = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())];
      return new RedisServer(port, folder, [...bus, ...settings]);
    });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it on its port once it has been killed, with what its append-only file kept, if it has one. */
  async startAgain(): Promise<void> {
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.#folder];
    const child = spawn('redis-server', [...own, ...this.#settings], { stdio: ['ignore', 'pipe', 'inherit'] });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk;
        if (/Ready to accept connections/.test(output)) resolve();
      });
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${output}`)));
    });
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Stops its process: connections stay open without answers. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  /** Continues its process. */
  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
