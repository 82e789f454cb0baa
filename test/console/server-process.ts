import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('killed-server.mjs', import.meta.url));

/** A server in a process of its own, which a test kills and starts again. */
export class ServerProcess {
  readonly url: string;
  readonly #arguments: readonly string[];
  #child: ChildProcess | undefined;

  constructor(file: string, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#arguments = [SCRIPT, file, String(port)];
  }

  /** Resolves once it listens. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, this.#arguments, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The server ended with ${code}`);
    });
    await Promise.race([once(child.stdout, 'data'), ended]);
    ended.catch(() => {});
  }

  /** Kills it as a crash does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
