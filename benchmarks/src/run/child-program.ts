import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onCore } from './cores.js';

/** Options of a program of the benchmark. */
export interface ChildOptions {
  /** Path beside the folder of this file, without ending. */
  readonly program: string;
  readonly args?: readonly string[];
  /** Options of Node.js itself. */
  readonly nodeArgs?: readonly string[];
  readonly core: number | undefined;
}

const PATIENCE_MS = 30_000;

/** A program of the benchmark in a process of its own, which speaks in messages that have a `kind`. */
export class ChildProgram<Message extends { readonly kind: string }> implements AsyncDisposable {
  readonly #program: string;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<string, PromiseWithResolvers<Message>>();
  #output = '';
  #ended: string | undefined;

  constructor({ program, args = [], nodeArgs = [], core }: ChildOptions) {
    const script = fileURLToPath(new URL(`../${program}.js`, import.meta.url));
    const [command = '', ...rest] = onCore(core, [process.execPath, ...nodeArgs, script, ...args]);
    this.#program = program;
    this.#process = spawn(command, rest, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    this.#process.stdout?.on('data', (data) => this.#printed(data));
    this.#process.stderr?.on('data', (data) => this.#printed(data));
    this.#process.on('message', (message) => this.#told(message as Message));
    this.#process.once('error', (error) => this.#fail(error.message));
    this.#process.once('exit', (code, signal) => this.#fail(`it ended with ${code ?? signal}`));
  }

  /** Its whole output, which should be empty. */
  get output(): string {
    return this.#output;
  }

  send(message: object): void {
    this.#process.send(message);
  }

  /** Resolves to the next message of a kind. Must be called before it can arrive. */
  async next<Kind extends Message['kind']>(
    kind: Kind,
    patienceMs = PATIENCE_MS,
  ): Promise<Extract<Message, { readonly kind: Kind }>> {
    if (this.#ended !== undefined) throw this.#failure();
    const waiting = Promise.withResolvers<Message>();
    this.#waiting.set(kind, waiting);
    const timer = setTimeout(() => this.#fail(`it was silent for ${patienceMs / 1000} s`), patienceMs);
    try {
      return (await waiting.promise) as Extract<Message, { readonly kind: Kind }>;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits until the program ends by itself, so that it can write its last files. */
  async end(patienceMs = PATIENCE_MS): Promise<void> {
    const gone = once(this.#process, 'exit', { signal: AbortSignal.timeout(patienceMs) });
    this.#process.disconnect();
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  #printed(data: Buffer): void {
    if (this.#output.length < 10_000) this.#output += data.toString();
  }

  #told(message: Message): void {
    this.#waiting.get(message.kind)?.resolve(message);
    this.#waiting.delete(message.kind);
  }

  #fail(reason: string): void {
    this.#ended ??= reason;
    for (const { reject } of this.#waiting.values()) reject(this.#failure());
    this.#waiting.clear();
  }

  #failure(): Error {
    return new Error(`The program ${this.#program} failed: ${this.#ended}\n${this.#output}`);
  }
}
