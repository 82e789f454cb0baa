import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('fault-server.mjs', import.meta.url));

/** Addresses of a server by binding. */
export interface Addresses {
  readonly jsonRpc: string;
  readonly rest: string;
}

/** A server process of its own on a SQLite file. */
export class ServerProcess implements AsyncDisposable {
  readonly addresses: Addresses;
  readonly #child: ChildProcess;
  readonly #log: string[];

  private constructor(child: ChildProcess, log: string[], addresses: Addresses) {
    this.#child = child;
    this.#log = log;
    this.addresses = addresses;
  }

  /**
   * Starts a server on a SQLite file, or on `memory:`, and waits until it listens. It can be killed after a while, or
   * have a small heap. Rejects with its output if it ends.
   */
  static async start(
    path: string,
    { killAfterMs, heapMiB }: { readonly killAfterMs?: number; readonly heapMiB?: number } = {},
  ): Promise<ServerProcess> {
    const url = path.startsWith('memory:') ? path : `sqlite:${path}`;
    const child = spawn(process.execPath, [...(heapMiB ? [`--max-old-space-size=${heapMiB}`] : []), SERVER, url], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const log: string[] = [];
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    if (killAfterMs !== undefined) setTimeout(end, killAfterMs);
    child.stderr.on('data', (chunk: Buffer) => log.push(chunk.toString()));
    for await (const line of createInterface({ input: child.stdout })) {
      const found = JSON.parse(line) as { JSONRPC: string; 'HTTP+JSON': string };
      return new ServerProcess(child, log, { jsonRpc: found.JSONRPC, rest: found['HTTP+JSON'] });
    }
    throw new Error(`The server did not start:\n${log.join('')}`);
  }

  /** The lines of its log that have this text. */
  linesWith(text: string): readonly string[] {
    return this.#log
      .join('')
      .split('\n')
      .filter((line) => line.includes(text));
  }

  /** All its log. */
  get log(): string {
    return this.#log.join('');
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Returns the maximum growth of its memory during `work`, in MiB. */
  async growthDuring(work: () => Promise<unknown>): Promise<number> {
    const folder = `/proc/${this.pid}`;
    const read = (name: string) => {
      const [, kib] = new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`${folder}/status`, 'utf8')) ?? [];
      return Number(kib) / 1024;
    };
    // Resets the peak that the kernel records.
    writeFileSync(`${folder}/clear_refs`, '5');
    const before = read('VmRSS');
    await work();
    return read('VmHWM') - before;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends the threads of its storage. */
  endThreads(): void {
    this.#child.kill('SIGUSR2');
  }

  /** Ends it like an operator does; resolves to the exit code. */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.running) {
      const ended = once(this.#child, 'exit');
      this.#child.kill(signal);
      await ended;
    }
    return this.#child.exitCode;
  }
}
