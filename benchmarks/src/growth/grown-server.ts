import { ProbedServer } from '../probes/probed-server.js';
import { ChildProgram } from '../run/child-program.js';
import type { SubjectMessage } from '../subjects/subject-host.js';

export const STORAGES = ['memory', 'sqlite'] as const;
export type StorageName = (typeof STORAGES)[number];

/** Time limit for storing a million tasks on a busy machine. */
const STORED_MS = 1_800_000;

/** A server to start. It stores the tasks from number `stored` up to number `wanted` before it listens. */
export interface GrownOptions {
  readonly storage: StorageName;
  /** Of the SQLite file. */
  readonly folder: string;
  readonly stored?: number;
  readonly wanted?: number;
}

/** Starts a server in a process of its own, works with it, and stops it. */
export async function withServer<T>(options: GrownOptions, work: (server: ProbedServer) => Promise<T>): Promise<T> {
  const { storage, folder, stored = 0, wanted = 0 } = options;
  await using child = new ChildProgram<SubjectMessage>({
    program: 'growth/growing-server',
    args: [storage, folder, String(stored), String(wanted)],
    nodeArgs: ['--expose-gc', '--max-old-space-size=8192'],
    core: undefined,
  });
  const { port } = await child.next('ready', STORED_MS);
  const server = new ProbedServer(storage, child, port);
  try {
    const result = await work(server);
    if (child.output !== '') throw new Error(`The server printed: ${child.output}`);
    return result;
  } finally {
    server.close();
  }
}

/** Calls in lanes that run at the same time. `one` gets the number of its call. */
export async function repeat(times: number, atOnce: number, one: (number: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const lane = async () => {
    while (begun < times) await one(begun++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** Returns the CPU time of the server per call, in µs. */
export async function costOf(server: ProbedServer, times: number, one: (number: number) => Promise<unknown>) {
  const before = await server.usage();
  await repeat(times, 16, one);
  const after = await server.usage();
  return (after.cpuMicros - before.cpuMicros) / times;
}
