import { ChildProgram } from '../run/child-program.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import type { ReplicaClient } from './replica-client.js';
import { replicaClient } from './replica-client.js';

/** A replica process and a client for it. */
export interface Replica {
  readonly process: ChildProgram<SubjectMessage>;
  readonly client: ReplicaClient;
}

/** Replica processes on one database. */
export class Replicas implements AsyncDisposable {
  readonly all: readonly Replica[];

  private constructor(all: readonly Replica[]) {
    this.all = all;
  }

  /** Starts so many replicas one after another: the first one makes the tables. */
  static async start(count: number, databaseUrl: string): Promise<Replicas> {
    process.env.DATABASE_URL = databaseUrl;
    const all: Replica[] = [];
    for (let started = 0; started < count; started++) all.push(await startReplica());
    return new Replicas(all);
  }

  /** The replica of this number; numbers beyond the last one begin again. */
  at(index: number): Replica {
    const replica = this.all[index % this.all.length];
    if (replica === undefined) throw new TypeError('There are no replicas');
    return replica;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client, process } of this.all) {
      client.close();
      await process[Symbol.asyncDispose]();
    }
  }
}

async function startReplica(): Promise<Replica> {
  const program = new ChildProgram<SubjectMessage>({ program: 'cluster/replica', core: undefined });
  const { port } = await program.next('ready', 60_000);
  return { process: program, client: replicaClient(port) };
}
