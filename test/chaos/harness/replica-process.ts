import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReplicaLife } from '../checker/history.js';
import { monotonic } from './monotonic.js';

const SCRIPT = fileURLToPath(new URL('../replica/replica.mjs', import.meta.url));
const CLOCK = new URL('../replica/shifted-clock.mjs', import.meta.url).href;
const START_MS = 60_000;

/** The settings of a process of a replica. */
export interface ReplicaSettings {
  /** The name of the process in the journal. */
  readonly name: string;
  readonly database: string;
  readonly publicUrl: string;
  /** The folder of its journal and its log. */
  readonly folder: string;
  readonly port: number;
  /** Offset of its wall clock. */
  readonly clockShiftMs: number;
}

/** One process of a replica. */
export class ReplicaProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  #endedAt: number | undefined;
  #isAsked = false;
  #ownEnd: string | undefined;
  /** Resolves with the code, or the signal that has ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;

  private constructor(name: string, child: ChildProcess, ended: Promise<number | NodeJS.Signals>) {
    this.name = name;
    this.#child = child;
    this.ended = ended.then((how) => {
      this.#endedAt = monotonic();
      if (!this.#isAsked) this.#ownEnd = String(how);
      return how;
    });
  }

  /** Resolves when it listens. Rejects if it ends before. */
  static async start(settings: ReplicaSettings): Promise<ReplicaProcess> {
    const { name, database, publicUrl, folder, port, clockShiftMs } = settings;
    const journal = join(folder, `${name}.jsonl`);
    const logPath = join(folder, `${name}.log`);
    await using log = await open(logPath, 'a');
    const child = fork(SCRIPT, [name, String(port), journal], {
      execArgv: ['--import', CLOCK],
      env: { ...process.env, DATABASE_URL: database, PUBLIC_URL: publicUrl, CLOCK_SHIFT_MS: String(clockShiftMs) },
      stdio: ['ignore', 'ignore', log.fd, 'ipc'],
    });
    const end = () => void child.kill('SIGKILL');
    process.once('exit', end);
    const ended = once(child, 'exit').then(([code, signal]) => {
      process.off('exit', end);
      return (code ?? signal) as number | NodeJS.Signals;
    });
    const timer = setTimeout(end, START_MS);
    await Promise.race([
      once(child, 'message'),
      ended.then(async (how) => {
        const output = (await readFile(logPath, 'utf8')).slice(-4_000);
        throw new Error(`replica ${name} ended with ${how} before it listened:\n${output}`);
      }),
    ]).finally(() => clearTimeout(timer));
    return new ReplicaProcess(name, child, ended);
  }

  signal(signal: NodeJS.Signals): void {
    // A process that has already ended gets no signal, and its end counts as its own.
    if (this.#endedAt === undefined && (signal === 'SIGKILL' || signal === 'SIGTERM')) this.#isAsked = true;
    this.#child.kill(signal);
  }

  /** The start and the end of the process. Its stalls are in the journal. */
  get life(): Omit<ReplicaLife, 'stalls'> {
    return {
      process: this.name,
      ...(this.#endedAt !== undefined && { endedAt: this.#endedAt }),
      ...(this.#ownEnd !== undefined && { ownEnd: this.#ownEnd }),
    };
  }
}
