import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { EmptyFolder, PARLEY } from './parley.js';

/** One test case if this machine has the command script of util-linux, otherwise none. */
export function terminalCases(): readonly string[] {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux') ? ['script'] : [];
  } catch {
    return [];
  }
}

/** The key Ctrl-C. */
export const CTRL_C = '\u0003';
/** The key Ctrl-D. */
export const CTRL_D = '\u0004';

/** A command on a pseudo-terminal, which is its stdin, stdout and stderr. */
export class PseudoTerminal implements AsyncDisposable {
  readonly #home = new EmptyFolder();
  readonly #child: ChildProcess;
  readonly #told = new EventEmitter();
  readonly #closed: Promise<unknown>;
  #said = '';
  #read = 0;
  #isOver = false;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { PATH = '' } = process.env;
    const command = [process.execPath, PARLEY, ...args].map((word) => `'${word}'`).join(' ');
    this.#child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: this.#home.path,
      env: { PATH, HOME: this.#home.path, TERM: 'xterm', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdin?.on('error', () => {});
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
      this.#told.emit('something');
    });
    this.#closed = once(this.#child, 'close').then(() => {
      this.#isOver = true;
      this.#told.emit('something');
    });
  }

  /** Presses keys. */
  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Waits until the output after the last match has a new match. Returns that output up to its end. */
  async shows(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#said.slice(this.#read));
      if (found !== null) {
        const shown = this.#said.slice(this.#read, this.#read + found.index + found[0].length);
        this.#read += shown.length;
        return shown;
      }
      if (this.#isOver) throw new Error(`It ended before ${pattern}:\n${this.#said}`);
      await once(this.#told, 'something');
    }
  }

  /** Waits for the end of the command. Returns its whole output and its exit code. */
  async waitForEnd(): Promise<{ readonly said: string; readonly code: number | null }> {
    await this.#closed;
    return { said: this.#said, code: this.#child.exitCode };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
    this.#home[Symbol.dispose]();
  }
}
