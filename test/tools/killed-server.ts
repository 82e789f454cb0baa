import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/servers/free-port.js';

/** A server in a process of its own, which is killed. Its tools write their runs into a journal. */
export class KilledServer {
  readonly #script: string;
  readonly #folder: string;
  readonly #port: string;
  readonly #further: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(script: string, folder: string, port: number, further: readonly string[]) {
    this.#script = fileURLToPath(new URL(script, import.meta.url));
    this.#folder = folder;
    this.#port = String(port);
    this.#further = further;
  }

  /** The server of a script of this folder. Its arguments: the database, the journal, the port, the further ones. */
  static async of(script: string, further: readonly string[] = []): Promise<KilledServer> {
    return new KilledServer(script, await mkdtemp(join(tmpdir(), 'parley-tools-')), await freePort(), further);
  }

  /** Starts a process, always on the same port. Resolves to its address. */
  async start(): Promise<string> {
    const database = `sqlite:${join(this.#folder, 'tasks.db')}`;
    const args = [this.#script, database, this.#journal, this.#port, ...this.#further];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) return line;
    throw new Error('the server did not start');
  }

  /** Ends the process by SIGKILL. */
  async kill(): Promise<void> {
    const killed = this.#child;
    this.#child = undefined;
    if (killed === undefined || killed.exitCode !== null) return;
    await new Promise<void>((resolve) => {
      killed.once('exit', () => resolve());
      killed.kill('SIGKILL');
    });
  }

  /** The runs of the tools so far, without the ids of processes. */
  async runs(): Promise<readonly string[]> {
    const text = await readFile(this.#journal, 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/ \d+$/, '')]));
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #journal(): string {
    return join(this.#folder, 'journal');
  }
}
