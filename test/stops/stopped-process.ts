import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmptyFolder, PARLEY } from '../cli/parley.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const AGENT = new URL('waiting-agent.mjs', import.meta.url);
const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

const folder = new EmptyFolder();
symlinkSync(join(REPOSITORY, 'node_modules'), join(folder.path, 'node_modules'));
process.once('exit', () => folder[Symbol.dispose]());

/** The states of a turn at the stop of its process, and whether the signal of the agent aborts. */
export const STATES = [
  ['waits for its signal', 'signal', true],
  ['waits for an authorization', 'authorization', true],
  ['has a busy timer', 'timer', true],
  ['waits for input', 'input', false],
  ['waits for another agent', 'call', true],
  ['is queued behind another', 'queued', true],
] as const;

/** A state of a turn. */
export type State = (typeof STATES)[number][1];

/** Options of a server that a test stops. */
export interface StoppedOptions {
  readonly database: string;
  /** True if a timer of the application keeps the process busy. */
  readonly hasTimer?: boolean;
}

/** A real process with the waiting agent, which a test stops by a signal. */
export class StoppedProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  readonly #told = new EventEmitter();
  output = '';
  errors = '';

  private constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, args, { cwd: REPOSITORY, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
      this.#told.emit('output');
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#told.emit('output');
      return code as number | null;
    });
  }

  /** The server of docs/storage.md, with another agent, database and port, and a shorter grace. */
  static ofDocsSample({ database, hasTimer }: StoppedOptions): StoppedProcess {
    const page = readFileSync(new URL('../../docs/storage.md', import.meta.url), 'utf8');
    const [, sample = ''] = /```ts\n([^`]*SIGTERM[^`]*)```/.exec(page) ?? [];
    const source = sample
      .replace("'sqlite:./data/tasks.db'", `${JSON.stringify(database)}, { backends: [postgresBackend, redisBackend] }`)
      .replace('(prompt) => prompt.toUpperCase()', "host.agents['/'].agent, calls: host.calls")
      .replace('server.close()', 'server.close({ graceMs: 500 })')
      .replace('await server.listen(8080)', "process.stdout.write('URL: ' + (await server.listen(0)).url + '\\n')");
    const timer = hasTimer ? 'const busy = setInterval(() => {}, 50);' : '';
    const closed = "\n  process.stdout.write('closed\\n');";
    const whenClosed = `${closed}${hasTimer ? ' clearInterval(busy);' : ''}`;
    const imports = [
      `import host from ${JSON.stringify(AGENT)};`,
      "import { postgresBackend } from 'parley-a2a-postgres';",
      "import { redisBackend } from 'parley-a2a-redis';",
    ];
    const text = `${imports.join('\n')}\n${timer}\n${source}`;
    const path = join(folder.path, `${crypto.randomUUID()}.mjs`);
    writeFileSync(
      path,
      text.replace('await storage.close();', (close) => `${close}${whenClosed}`),
    );
    return new StoppedProcess([path]);
  }

  /** `parley serve` with the same agent. */
  static ofServeCommand({ database }: StoppedOptions): StoppedProcess {
    return new StoppedProcess([PARLEY, 'serve', fileURLToPath(AGENT), '--port', '0', '--database', database]);
  }

  /** Waits for a line; resolves to its first group. */
  async waitForOutput(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.output);
      if (found) return found[1] ?? '';
      if (this.#child.exitCode !== null) throw new Error(`it has ended: ${this.output}${this.errors}`);
      await once(this.#told, 'output');
    }
  }

  /** Sends a message without waiting for its turn; resolves to the id of its task. */
  async send(text: string, taskId?: string): Promise<string> {
    const url = await this.waitForOutput(/^URL: (\S+)$/m);
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...(taskId && { taskId }) };
    const body = JSON.stringify({ message, configuration: { returnImmediately: true } });
    const answer = await fetch(`${url}/a2a/rest/message:send`, { method: 'POST', headers: HEADERS, body });
    return ((await answer.json()) as { readonly task: { readonly id: string } }).task.id;
  }

  /** Brings a turn into a state. `other` is an agent for its call, whose answer never comes. */
  async enter(state: State, other: StoppedProcess): Promise<void> {
    const begun = state === 'queued' ? 'signal' : state;
    const task = await this.send(state === 'call' ? `call ${await other.waitForOutput(/^URL: (\S+)$/m)}` : begun);
    await this.waitForOutput(new RegExp(`^begun ${begun}$`, 'm'));
    if (state === 'queued') await this.send('second', task);
  }

  /** Sends a body of this size; resolves to the status of the answer. */
  async sendBytes(size: number): Promise<number> {
    const url = await this.waitForOutput(/^URL: (\S+)$/m);
    const body = new Uint8Array(size);
    return (await fetch(`${url}/a2a/rest/message:send`, { method: 'POST', headers: HEADERS, body })).status;
  }

  /** Asks the process to stop; resolves to its exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
