// The server of the example agents as a child process.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ownNode, root } from './processes.mjs';

/** What has to be built for it. */
export const SERVED_PROJECTS = ['packages/parley', 'examples/agents'];

/** What ends a server, and has to be passed on to it. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Longer than the graces of a server together: who takes more hangs. */
const STOP_LIMIT_MS = 20_000;

/** Runs from when it is made, on the repository's own Node.js. */
export class ExampleServer {
  /** Its exit code. */
  ended;
  running = true;
  #child;
  #sent = new Set();

  constructor() {
    this.#child = spawn(ownNode, [join(root, 'examples/agents/dist/main.js')], { cwd: root, stdio: 'inherit' });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => {
        this.running = false;
        resolve(code ?? 128 + (constants.signals[signal] ?? 0));
      });
    });
  }

  /** Passes a signal on. The whole group may have got it, and npm passes it on once more: once is enough. */
  signal(signal) {
    if (this.#sent.has(signal)) return;
    this.#sent.add(signal);
    this.#child.kill(signal);
  }

  /** Lets it finish what it does; one that hangs is ended by force. Resolves to its exit code. */
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
