import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import type { Task } from '../../packages/parley/src/model/task.js';

/** The settings of a replica. */
export interface ReplicaOptions {
  /** A program of this folder. Default: `replica-server.mjs`. */
  readonly program?: string;
  /** For `kit-server.mjs`. */
  readonly journal?: string;
  readonly isStuck?: boolean;
  readonly agents?: readonly string[];
  readonly clockOffMs?: number;
  readonly rateLimit?: { readonly requests: number; readonly windowMs: number };
  readonly graceMs?: number;
  readonly leaseMs?: number;
  /** Number of running turns above which the replica claims no others. */
  readonly runningTurns?: number;
  readonly operatorToken?: string;
  /** For programs of other folders. */
  readonly settings?: object;
}

/** A process that serves the agents of these tests. */
export class Replica implements AsyncDisposable {
  readonly url: string;
  readonly lines: readonly string[];
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #log: () => string;

  private constructor(child: ChildProcess, lines: readonly string[], log: () => string) {
    this.url = lines.find(isUrl) ?? '';
    this.lines = lines;
    this.#log = log;
    this.#process = child;
    this.#exit = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
  }

  /** Resolves when it takes requests. */
  static async start(database: string, options: ReplicaOptions = {}): Promise<Replica> {
    const program = fileURLToPath(new URL(options.program ?? 'replica-server.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, database, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const lines: string[] = [];
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-20_000);
    });
    let rest = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const whole = (rest + text).split('\n');
        rest = whole.pop() ?? '';
        lines.push(...whole);
        // A replica may take over turns before it listens.
        if (lines.some(isUrl)) resolve();
      });
      child.once('exit', (code, signal) => reject(new Error(`a replica ended with ${code ?? signal}:\n${log}`)));
    });
    if (process.env.REPLICA_LOG !== undefined) child.stderr.pipe(process.stderr);
    return new Replica(child, lines, () => log);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Count of runs of an agent on this text. */
  runs(text: string): number {
    return this.lines.filter((line) => line.startsWith(`ran ${text} attempt `)).length;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Resolves when the process has ended. */
  async waitForExit(): Promise<void> {
    if (this.isRunning) await this.#exit;
  }

  /** Calls an operation over HTTP+JSON. */
  async call(path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    try {
      return await fetch(`${this.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw new Error(`A replica did not answer. Its log:\n${this.#log()}`, { cause: error });
    }
  }

  /** Sends a message. `over` goes into the message. */
  async send(text: string, over: object = {}, { agent = '/', ...configuration }: SendSettings = {}): Promise<Task> {
    const answer = await this.sendRaw(text, over, { agent, ...configuration });
    const { task, ...rest } = (await answer.json()) as { readonly task?: Task };
    if (task === undefined) throw new Error(`${answer.status} ${JSON.stringify(rest)}`);
    return task;
  }

  sendRaw(text: string, over: object = {}, { agent = '/', ...configuration }: SendSettings = {}): Promise<Response> {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...over };
    return this.call(`${restOf(agent)}/message:send`, { message, configuration });
  }

  async task(id: string, agent = '/'): Promise<Task> {
    return (await this.call(`${restOf(agent)}/tasks/${id}`)).json() as Promise<Task>;
  }

  /** Resolves when a task is in a state. */
  until(id: string, state: string, { agent = '/', timeoutMs = 20_000 } = {}): Promise<Task> {
    return vi.waitFor(
      async () => {
        const task = await this.task(id, agent);
        if (task.status?.state !== `TASK_STATE_${state}`) throw new Error(`${JSON.stringify(task).slice(0, 400)}`);
        return task;
      },
      { timeout: timeoutMs, interval: 30 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGKILL');
    await this.waitForExit();
  }
}

interface SendSettings {
  readonly agent?: string;
  readonly returnImmediately?: boolean;
  readonly taskPushNotificationConfig?: object;
}

/** The path of HTTP+JSON of an agent. */
export function restOf(agent: string): string {
  return agent === '/' ? '/a2a/rest' : `${agent}/rest`;
}

function isUrl(line: string): boolean {
  return line.startsWith('http://');
}
