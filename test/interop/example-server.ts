import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/servers/free-port.js';

const MAIN = fileURLToPath(new URL('../../examples/agents/dist/main.js', import.meta.url));
/** The example agents, each with a port of gRPC. */
export const GRPC_AGENTS = fileURLToPath(new URL('grpc-agents.mjs', import.meta.url));

/** Options of an example server. */
export interface ExampleServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** The folder of its data, kept afterwards; default: a temporary one that goes with the server. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than that of `npm start`. */
  readonly program?: string;
}

/** The real server process of the example agents, on a free port, with SQLite in a folder of its own. */
export class ExampleServer implements AsyncDisposable {
  readonly url: string;
  /** Everything it has printed. */
  readonly output: string[];
  readonly #process: ChildProcess;
  readonly #temporary: string | undefined;

  private constructor(port: number, child: ChildProcess, output: string[], temporary: string | undefined) {
    this.url = `http://127.0.0.1:${port}`;
    this.#process = child;
    this.output = output;
    this.#temporary = temporary;
  }

  static async start(options: ExampleServerOptions = {}): Promise<ExampleServer> {
    const port = options.port ?? (await freePort());
    const temporary = options.folder === undefined ? await temporaryFolder() : undefined;
    const file = join(options.folder ?? temporary ?? '', 'agents.db');
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [options.program ?? MAIN], {
      env: {
        PATH,
        HOST: '127.0.0.1',
        PORT: String(port),
        DATABASE_URL: `sqlite:${file}`,
        LOG_LEVEL: 'info',
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Whatever becomes of the tests, no server outlives them.
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const output: string[] = [];
    await new Promise<void>((ready, failed) => {
      const read = (chunk: Buffer) => {
        output.push(chunk.toString());
        if (output.join('').includes('"msg":"listening on')) ready();
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('exit', (code) => failed(new Error(`The server ended with ${code}:\n${output.join('')}`)));
    });
    return new ExampleServer(port, child, output, temporary);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Ends it like an operator does; resolves to the exit code. */
  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Ends it without giving it a chance to do anything. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGKILL');
    if (this.#temporary !== undefined) await rm(this.#temporary, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill(signal);
      await ended;
    }
    return this.#process.exitCode;
  }
}

/** A new temporary folder. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'parley-interop-'));
}
