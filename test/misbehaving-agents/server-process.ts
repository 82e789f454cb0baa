import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A line of the server's log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: { readonly taskId?: string };
  readonly hasError: boolean;
}

/** Resources of a server process. */
export interface Footprint {
  readonly rss: number;
  /** The most it ever was. */
  readonly maxRss: number;
  readonly heapUsed: number;
  readonly listeners: number;
  /** Those that keep the process alive. */
  readonly timers: number;
}

const SERVER = fileURLToPath(new URL('misbehaving-server.mjs', import.meta.url));

/** A server in a process of its own, on memory or on a SQLite file in a folder that goes with it. */
export class ServerProcess {
  readonly logs: LogLine[] = [];
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  readonly #child: ChildProcess;
  readonly #answers = new Map<number, (answer: unknown) => void>();
  #asked = 0;
  #stderr = '';
  #address: Promise<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.on('data', (text) => {
      this.#stderr += text;
    });
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.#address = new Promise((resolve, reject) => {
      child.on('message', (said: { address?: string; log?: LogLine; id?: number; answer?: unknown }) => {
        if (said.address !== undefined) resolve(said.address);
        if (said.log) this.logs.push(said.log);
        if (said.id !== undefined) this.#answers.get(said.id)?.(said.answer);
      });
      this.exited.then(({ code, signal }) =>
        reject(new Error(`the server ended (${code ?? signal}): ${this.#stderr}`)),
      );
    });
    this.#address.catch(() => {});
  }

  /** Resolves when the server accepts connections. */
  static async start(database: string, options: object = {}): Promise<ServerProcess> {
    const stdio = ['ignore', 'inherit', 'pipe', 'ipc'] as const;
    // Tests read the error output, so Node.js must not print warnings about terminal colours.
    const { NO_COLOR: _no, FORCE_COLOR: _force, ...env } = process.env;
    const process_ = new ServerProcess(
      spawn(process.execPath, ['--expose-gc', SERVER, database, JSON.stringify(options)], {
        // Core dumps go with the folder.
        ...(database.startsWith('sqlite:') && { cwd: dirname(database.slice('sqlite:'.length)) }),
        stdio: [...stdio],
        env,
      }),
    );
    await process_.#address;
    return process_;
  }

  /** The base url. */
  get address(): Promise<string> {
    return this.#address;
  }

  /** Its error output. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Memory after a collection, and what is open. */
  footprint(): Promise<Footprint> {
    return this.#ask('memory') as Promise<Footprint>;
  }

  /** Closes server and storage as a program would at its end. */
  close(): Promise<{ listeners: number }> {
    return this.#ask('close') as Promise<{ listeners: number }>;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  #ask(command: string): Promise<unknown> {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#answers.set(id, resolve);
      this.exited.then(() => reject(new Error(`the server has ended: ${this.#stderr}`)));
      this.#child.send({ id, command });
    });
  }
}

/** A folder for database files. */
export class DatabaseFolder {
  readonly #path = mkdtempSync(join(tmpdir(), 'parley-misbehaving-'));
  readonly url = `sqlite:${join(this.#path, 'tasks.db')}`;

  remove(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }
}
