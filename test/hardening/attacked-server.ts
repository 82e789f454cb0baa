import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { httpJsonBytes, rpcBytes } from './calls.js';
import { type HttpAnswer, readAnswer } from './http-answer.js';

const MAIN = fileURLToPath(new URL('hardening-server.mjs', import.meta.url));
const RECOVERY_MS = 15_000;
/** Interval between garbage collections in ms, so that the server has time to recover. */
const POLL_MS = 50;
const MIB = 1024 * 1024;

/**
 * Differences of the attacked server from one with defaults. `limits`, `http` and others are as in `createA2AServer`.
 */
export interface AttackedServerOptions {
  readonly storage?: 'memory' | 'sqlite';
  readonly options?: object;
}

/** Resources of the server process. */
export interface Holdings {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  /** Open handles by kind. */
  readonly resources: Readonly<Record<string, number>>;
  readonly log: readonly LogLine[];
}

/** A warning or an error that the server logged. */
export interface LogLine {
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly error?: string;
}

/** Resources that an attack may leave in use. */
export interface Allowance {
  /** Growth of the heap; what callers made the server store in memory is part of it. */
  readonly heapMiB?: number;
  /** Growth of the process beyond it: allocators keep much of what was free once. */
  readonly rssMiB?: number;
}

/** A real server process, with SQLite in a folder of its own unless it is to use memory. */
export class AttackedServer implements AsyncDisposable {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(port: number, child: ChildProcess, folder: string) {
    this.port = port;
    this.#process = child;
    this.#folder = folder;
  }

  static async start({ storage = 'sqlite', options = {} }: AttackedServerOptions = {}): Promise<AttackedServer> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-hardening-'));
    const databaseUrl = storage === 'memory' ? 'memory:' : `sqlite:${join(folder, 'tasks.db')}`;
    const child = fork(MAIN, [JSON.stringify({ databaseUrl, ...options })], { execArgv: ['--expose-gc'] });
    // No server outlives the tests, even if they end early.
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const { port } = await answerOf<{ readonly port: number }>(child);
    const server = new AttackedServer(port, child, folder);
    // Creates everything that exists once per server before the measurement.
    for (let call = 0; call < 20; call++) await server.mustAnswer();
    return server;
  }

  /** True if the process is alive. */
  get alive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Its resources after a garbage collection. */
  holdings(): Promise<Holdings> {
    return this.#ask('collect');
  }

  /** Returns the resources once no connection is open. */
  async idleHoldings(): Promise<Holdings> {
    for (const deadline = Date.now() + RECOVERY_MS; ; ) {
      const holdings = await this.holdings();
      if (holdings.resources.TCPSocketWrap === undefined) return holdings;
      if (Date.now() > deadline) throw new Error('connections stay open');
      await pause(POLL_MS);
    }
  }

  /** Lets all waiting agents continue. */
  async release(): Promise<void> {
    await this.#ask('release');
  }

  /** Stops the process by SIGSTOP, like an overloaded machine; `thaw` continues it. */
  freeze(): void {
    this.#process.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process.kill('SIGCONT');
  }

  /** A new connection with these bytes sent on it. */
  open(bytes: string | Uint8Array = ''): Promise<RawConnection> {
    return RawConnection.open(this.port, bytes);
  }

  /** Sends bytes on a new connection, and returns the answer. */
  async answer(bytes: string | Uint8Array, method = 'POST'): Promise<HttpAnswer> {
    using connection = await this.open(bytes);
    return (await connection.take((received) => readAnswer(received, 0, method))).answer;
  }

  /** Fails unless both bindings answer a normal call on a new connection. */
  async mustAnswer(): Promise<void> {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const rpc = await this.answer(rpcBytes('SendMessage', { message }));
    const rest = await this.answer(httpJsonBytes('POST', '/message:send', { message }));
    for (const { status, text } of [rpc, rest]) {
      if (status !== 200 || !text.includes('TASK_STATE_COMPLETED')) throw new Error(`the server answers ${text}`);
    }
  }

  /**
   * Fails unless the server answers and has logged no error. Connections and memory must return to their former values
   * once running calls have ended.
   */
  async mustBeAsBefore(before: Holdings, { heapMiB = 8, rssMiB = 256 }: Allowance = {}): Promise<void> {
    await this.mustAnswer();
    const deadline = Date.now() + RECOVERY_MS;
    let now = await this.holdings();
    let left = remains(before, now, heapMiB, rssMiB);
    while (left !== undefined && Date.now() < deadline) {
      await pause(POLL_MS);
      now = await this.holdings();
      left = remains(before, now, heapMiB, rssMiB);
    }
    if (left !== undefined) throw new Error(`the server did not recover: ${left}`);
    const errors = now.log.filter(({ level }) => level === 'error');
    if (errors.length > 0) throw new Error(`the server logged ${JSON.stringify(errors.slice(0, 3), undefined, 2)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.alive) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  #ask(question: string): Promise<Holdings> {
    const answer = answerOf<Holdings>(this.#process);
    this.#process.send(question);
    return answer;
  }
}

function remains(before: Holdings, now: Holdings, heapMiB: number, rssMiB: number): string | undefined {
  for (const name of ['TCPSocketWrap', 'TCPServerWrap'] as const) {
    const [had = 0, has = 0] = [before.resources[name], now.resources[name]];
    if (has > had) return `${has} ${name} instead of ${had}`;
  }
  const heap = now.heapUsed + now.external - before.heapUsed - before.external;
  if (heap > heapMiB * MIB) return `${Math.round(heap / MIB)} MiB more on the heap`;
  const rss = now.rss - before.rss;
  return rss > (heapMiB + rssMiB) * MIB ? `${Math.round(rss / MIB)} MiB more in the process` : undefined;
}

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null) => {
      child.off('message', onMessage);
      reject(new Error(`the server ended with ${code ?? signal}`));
    };
    const onMessage = (message: unknown) => {
      child.off('exit', onExit);
      resolve(message as T);
    };
    child.once('exit', onExit).once('message', onMessage);
  });
}
