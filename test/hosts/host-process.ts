import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/servers/free-port.js';
import type { Launch } from './hosts.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

const PORT_IN_USE = /EADDRINUSE|address already in use/i;

interface Running {
  readonly port: number;
  readonly child: ChildProcess;
  readonly endsItsChildren: boolean;
}

/** A host as a process of its own, on a free port of 127.0.0.1. */
export class HostProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #endsItsChildren: boolean;

  private constructor({ port, child, endsItsChildren }: Running) {
    this.url = `http://127.0.0.1:${port}`;
    this.#process = child;
    this.#endsItsChildren = endsItsChildren;
  }

  /** Resolves when the host says that it is ready. Takes a free port unless it is told one. */
  static async start(how: Launch, onPort?: number): Promise<HostProcess> {
    const { prepare, command, env = {}, ready = /ready/i, endsItsChildren = false } = how;
    if (prepare !== undefined) {
      const { child, said } = launch(prepare, env);
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`${prepare.join(' ')} ended with ${code}:\n${said()}`);
    }
    for (;;) {
      const port = onPort ?? (await freePort());
      const { child, said } = launch(command, { ...env, PORT: String(port) });
      const isReady = await new Promise<boolean>((resolve) => {
        const look = () => {
          if (ready.test(said())) resolve(true);
        };
        child.stdout?.on('data', look);
        child.stderr?.on('data', look);
        child.once('exit', () => resolve(false));
      });
      if (isReady) return new HostProcess({ port, child, endsItsChildren });
      // Another process may have taken the port before the host.
      if (onPort !== undefined || !PORT_IN_USE.test(said())) throw new Error(`The host ended:\n${said()}`);
    }
  }

  /** Ends it and all that it started. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    if (this.#endsItsChildren) this.#process.kill('SIGTERM');
    else endGroup(this.#process);
    await ended;
  }
}

/** Starts a program that ends with this process at the latest, together with all that it starts itself. */
function launch([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, args, {
    cwd: FOLDER,
    env: { PATH, HOME, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const end = () => endGroup(child);
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  return { child, said: () => output };
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
