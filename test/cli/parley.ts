import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

/** The command as users install it. */
export const PARLEY = fileURLToPath(new URL('../../packages/cli/bin/parley.js', import.meta.url));

/** Compiled code that all runs share, because each file of tests has a home of its own. */
const COMPILED = fileURLToPath(new URL('../../.cache/compiled', import.meta.url));

/** Options of a run of the command. */
export interface ParleyOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** Writes stdout and stderr into one pipe, read as stdout. */
  readonly joined?: boolean;
  /** Another copy of the command. */
  readonly program?: string;
}

/** Output and exit code of a command. */
export interface ParleyResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An empty folder for a command to run in. */
export class EmptyFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'parley-cli-'));
  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

const home = new EmptyFolder();
afterAll(() => home[Symbol.dispose]());

/** A running command, without the settings of this machine. */
export class RunningParley implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly ended: Promise<ParleyResult>;
  #stdout = '';
  #stderr = '';
  #over = false;
  readonly #told = new EventEmitter();

  constructor(
    args: readonly string[],
    { env = {}, input, cwd = home.path, joined = false, program = PARLEY }: ParleyOptions = {},
  ) {
    const { PATH = '' } = process.env;
    const shell = joined ? ['sh', '-c', 'exec "$0" "$@" 2>&1'] : [];
    const [command = '', ...words] = [...shell, process.execPath, program, ...args];
    this.process = spawn(command, words, {
      cwd,
      env: { PATH, HOME: home.path, NODE_COMPILE_CACHE: COMPILED, NO_COLOR: '1', ...env },
      stdio: 'pipe',
    });
    this.process.stdin?.on('error', () => {});
    this.process.stdin?.end(input ?? '');
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#told.emit('something');
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#told.emit('something');
    });
    // No command outlives the tests, even if they end early.
    const end = () => this.process.kill('SIGKILL');
    process.once('exit', end);
    this.ended = once(this.process, 'close').then(([code]) => {
      process.off('exit', end);
      this.#over = true;
      this.#told.emit('something');
      return { code: code as number | null, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  /** Waits until stdout matches a pattern; returns the first group. */
  waitForStdout(pattern: RegExp): Promise<string> {
    return this.#until(pattern, () => this.#stdout);
  }

  /** Waits until stderr matches a pattern; returns the first group. */
  waitForStderr(pattern: RegExp): Promise<string> {
    return this.#until(pattern, () => this.#stderr);
  }

  async #until(pattern: RegExp, text: () => string): Promise<string> {
    for (;;) {
      const found = pattern.exec(text());
      if (found !== null) return found[1] ?? found[0];
      if (this.#over) throw new Error(`It ended before ${pattern}:\n${this.#stdout}\n${this.#stderr}`);
      await once(this.#told, 'something');
    }
  }

  /** Sends a signal, and waits for the end of the command. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<ParleyResult> {
    this.process.kill(signal);
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}

/** Runs a command to its end. */
export function parley(args: readonly string[], options?: ParleyOptions): Promise<ParleyResult> {
  return new RunningParley(args, options).ended;
}

/** Runs a command that prints one JSON document. */
export async function parleyJson<T>(args: readonly string[], options?: ParleyOptions): Promise<T> {
  const { code, stdout, stderr } = await parley([...args, '-o', 'json'], options);
  if (code !== 0) throw new Error(`parley ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}

/** An agent served by a command, on a free port. */
export class ServedAgent implements AsyncDisposable {
  readonly running: RunningParley;
  readonly url: string;

  private constructor(running: RunningParley, url: string) {
    this.running = running;
    this.url = url;
  }

  static async start(args: readonly string[], options?: ParleyOptions): Promise<ServedAgent> {
    const running = new RunningParley([...args, '--port', '0'], options);
    return new ServedAgent(running, await running.waitForStdout(/^URL: (\S+)$/m));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running[Symbol.asyncDispose]();
  }
}
