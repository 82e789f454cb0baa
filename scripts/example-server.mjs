// The server of the example agents as a child process.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ownNode, root } from './processes.mjs';
import { withNeeds } from './workspaces.mjs';

/** The project of the server. */
export const SERVED_PROJECT = 'examples/agents';

/** The project and those that it needs. */
export const SERVED_PROJECTS = withNeeds([SERVED_PROJECT]);

/** Signals that end a server and are passed on to it. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Longer than all graces of a server together. A server that takes longer hangs. */
const STOP_LIMIT_MS = 20_000;

/** Runs from its construction on, with the Node.js of the repository. */
export class ExampleServer {
  /** Its exit code. */
  ended;
  running = true;
  #child;
  #sent = new Set();

  /** `file`: the program in the folder of the compiled agents. */
  constructor(file = 'main.js', args = []) {
    const program = join(root, SERVED_PROJECT, 'dist', file);
    this.#child = spawn(ownNode, [program, ...args], { cwd: root, stdio: 'inherit' });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => {
        this.running = false;
        resolve(code ?? 128 + (constants.signals[signal] ?? 0));
      });
    });
  }

  /** Passes a signal on, once. The whole process group may get it, and npm passes it on again. */
  signal(signal) {
    if (this.#sent.has(signal)) return;
    this.#sent.add(signal);
    this.#child.kill(signal);
  }

  /** Lets the server finish, and kills it if it hangs. Resolves to its exit code. */
  async stop() {
    if (this.#sent.size === 0) this.signal('SIGTERM');
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
    try {
      return await this.ended;
    } finally {
      clearTimeout(limit);
    }
  }
}
