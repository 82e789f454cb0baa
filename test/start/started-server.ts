import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { CopiedTree } from '../support/copied-tree.js';

/** `npm start -- …` in a tree of its own, and what it prints. */
export class StartedServer {
  readonly #child: ChildProcess;
  #output = '';
  readonly #told = new EventEmitter();
  #ended = false;

  constructor(tree: Pick<CopiedTree, 'path'>, args: readonly string[]) {
    const { PATH = '' } = process.env;
    const env = { PATH, PORT: '0', HOST: '127.0.0.1', NO_COLOR: '1' };
    this.#child = spawn(process.execPath, [tree.path('scripts/start.mjs'), ...args], {
      env,
      stdio: 'pipe',
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString();
        this.#told.emit('something');
      });
    }
    this.#child.once('close', () => {
      this.#ended = true;
      this.#told.emit('something');
    });
  }

  /** Waits until the output after the last match has a new match. Returns its first group. */
  async prints(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found !== null) {
        this.#output = this.#output.slice(found.index + found[0].length);
        return found[1] ?? found[0];
      }
      if (this.#ended) throw new Error(`It ended before it printed ${pattern}:\n${this.#output}`);
      await once(this.#told, 'something');
    }
  }

  /** The address of the next server that is ready. */
  listens(): Promise<string> {
    return this.prints(/"msg":"listening on (http:[^"]+)"/);
  }

  /** Sends SIGINT to all processes of the group, like Ctrl-C in a terminal. */
  async interrupt(): Promise<number | null> {
    const ended = once(this.#child, 'exit');
    process.kill(-(this.#child.pid ?? 0), 'SIGINT');
    await ended;
    return this.#child.exitCode;
  }

  /** True if a process of the group is alive. */
  get alive(): boolean {
    try {
      process.kill(-(this.#child.pid ?? 0), 0);
      return true;
    } catch {
      return false;
    }
  }

  /** Kills all processes of the group. */
  kill(): void {
    if (this.alive) process.kill(-(this.#child.pid ?? 0), 'SIGKILL');
  }
}
