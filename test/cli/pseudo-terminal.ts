import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { EmptyFolder, PARLEY } from './parley.js';

/** The test cases for a terminal of util-linux: one where the machine has it, else none. */
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

/** A command on a real pseudo-terminal: stdin, stdout and stderr are the same one. */
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

  /** Waits until the terminal shows this, behind what was waited for before; gives all that it showed until then. */
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

  /** Waits for the end of the command; gives all that the terminal showed, and the exit code. */
  async ended(): Promise<{ readonly said: string; readonly code: number | null }> {
    await this.#closed;
    return { said: this.#said, code: this.#child.exitCode };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
    this.#home[Symbol.dispose]();
  }
}
