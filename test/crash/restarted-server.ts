import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Task } from 'parley-a2a';
import { vi } from 'vitest';

/** The headers of a call over HTTP+JSON. */
export const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

/** A server in its own process, which a test starts again after its death. */
export class RestartedServer {
  readonly #program: string;
  #child: ChildProcess | undefined;

  /** `program`: a file beside this one. Its first line of output is its address. */
  constructor(program: string) {
    this.#program = fileURLToPath(new URL(program, import.meta.url));
  }

  /** Resolves to the address of its HTTP+JSON interface. */
  async start(...args: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, [this.#program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) return `${line}/a2a/rest`;
    throw new Error('the server did not start');
  }

  /** Resolves when its process has ended by itself. */
  async waitForExit(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await once(child, 'exit');
  }

  async kill(): Promise<void> {
    const killed = this.#child;
    this.#child = undefined;
    if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      killed.once('exit', () => resolve());
      killed.kill('SIGKILL');
    });
  }
}

/** The newest task of a server, once its turn is over. Its state `before` shows until the turn goes on. */
export function taskAfterTurn(url: string, before = 'TASK_STATE_SUBMITTED'): Promise<Task> {
  return vi.waitFor(
    async () => {
      const answer = await fetch(`${url}/tasks?includeArtifacts=true&historyLength=10`, { headers: HEADERS });
      const { tasks } = (await answer.json()) as { readonly tasks: readonly Task[] };
      const [found] = tasks;
      const state = found?.status.state;
      if (found === undefined || state === before || state === 'TASK_STATE_WORKING') throw new Error('not yet');
      return found;
    },
    { timeout: 30_000, interval: 50 },
  );
}
