import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../interop/example-server.js';
import type { Host } from './hosts.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** A host as a process of its own, on a free port of 127.0.0.1. */
export class HostProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.url = `http://127.0.0.1:${port}`;
    this.#process = child;
  }

  /** Resolves when the host says that it is ready. */
  static async start({ command, env }: Host, port?: number): Promise<HostProcess> {
    const at = port ?? (await freePort());
    const [program = '', ...args] = command;
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(program, args, {
      cwd: FOLDER,
      env: { PATH, HOME, NO_COLOR: '1', PORT: String(at), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Some of them start others: all of them are ended together.
      detached: true,
    });
    const host = new HostProcess(at, child);
    const end = () => host.#signal('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    let output = '';
    await new Promise<void>((ready, failed) => {
      const read = (chunk: Buffer) => {
        output += chunk;
        if (/ready/i.test(output)) ready();
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('error', failed);
      child.once('exit', (code) => failed(new Error(`The host ended with ${code}:\n${output}`)));
    });
    return host;
  }

  /** Ends it and all that it started. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#signal('SIGKILL');
    await ended;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#process.pid === undefined) return;
    try {
      process.kill(-this.#process.pid, signal);
    } catch {
      // It has ended by itself.
    }
  }
}
