import cluster from 'node:cluster';
import type { AgentServer, BoundServer, CloseTimes } from '../adapters/node/agent-server.js';
import type { BoundAddress } from '../adapters/node/http-server.js';
import { OptionsError } from '../errors/options-error.js';
import { checkOptions } from '../options/check-options.js';
import { custom, nonEmpty, type OptionSchemas, optionObject } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import type { TaskStorage } from '../store/task-storage.js';
import type { Logger } from '../telemetry/logger.js';
import type { ListenOptions } from './node.js';
import { type ServedDatabase, servedDatabases } from './served-database.js';
import { SLOT, tellFailure, workUntilStop } from './worker-pool.js';
import { workerProcess } from './worker-process.js';
import { WORKER_COUNT_RULE, Workers, workerCount } from './workers.js';

const schemas: OptionSchemas<ListenOptions> = {
  host: Type.Optional(nonEmpty),
  workers: Type.Optional(custom((value) => workerCount(value) !== undefined, WORKER_COUNT_RULE)),
};

/** Times of workers that a reload replaces: those of `close`. */
const RELOAD: CloseTimes = { graceMs: 5_000, drainMs: 0 };

/** Maximum time in ms for the application of a worker to end, after its server. */
const OWN_END_MS = 5_000;

/** A server, and its place among those of the module. */
interface ListeningServer {
  readonly server: AgentServer;
  /** The number of the server, in the order in which the program makes servers. */
  readonly number: number;
  /** The storage of the options. */
  readonly storage: TaskStorage | undefined;
  readonly hasTaskStore: boolean;
  readonly logger: Logger;
}

/** One server of a process has workers. */
let isTaken = false;

/**
 * Listens with some options: in this process, or in workers that run the program again.
 * @throws OptionsError naming every option that is wrong, and for a storage that workers cannot share.
 */
export async function listenWith(
  listening: ListeningServer,
  port: number,
  options: ListenOptions,
): Promise<{ readonly url: string }> {
  const { host = '127.0.0.1', workers = 1 } = checkOptions({
    subject: 'listen',
    schema: optionObject(schemas),
    options,
  });
  const { server } = listening;
  const count = workerCount(workers) ?? 1;
  const place = { host, port };
  if (count === 1) return server.listen(place);
  if (process.versions.bun !== undefined || 'Deno' in globalThis) throw wrong('need Node.js. Leave them out here');
  if (isTaken) throw wrong('belong to one server of a program, which listens once');
  if (cluster.isWorker && process.env[SLOT] !== undefined) {
    isTaken = true;
    return work(listening, place);
  }
  if (!cluster.isPrimary || process.argv[1] === undefined)
    throw wrong('run the file of the program again. This process is a worker already, or has no file');
  return lead(listening, place, count);
}

/** After a failure to listen, the program can try again. */
function freeWorkers(error: unknown): never {
  isTaken = false;
  throw error;
}

/** Starts the workers, from the first process. Its server gives its storage up. */
async function lead(
  { server, number, storage, hasTaskStore, logger }: ListeningServer,
  place: BoundAddress,
  count: number,
): Promise<{ readonly url: string }> {
  const database = databaseOf(storage, hasTaskStore);
  let workers: Workers | undefined;
  let isClosed = false;
  const forward = () => workers?.signal('SIGHUP');
  const others = {
    start: async () => {
      isTaken = true;
      if (database !== undefined) await storage?.close();
      if (!isClosed) workers = new Workers({ count, database, server: number, reload: RELOAD, logger, notes: logger });
      const bound = (await workers?.start().catch(freeWorkers)) as BoundServer | undefined;
      if (bound === undefined) throw new Error('The server was closed before its workers listened');
      // The workers open their audit log again, as this process does.
      if (process.listenerCount('SIGHUP') > 0) process.on('SIGHUP', forward);
      return bound;
    },
    close: async (times: CloseTimes) => {
      isClosed = true;
      process.off('SIGHUP', forward);
      await workers?.close(times);
    },
  };
  return server.listenElsewhere(place, others);
}

/** Listens in a worker, until the first process stops it. */
async function work({ server, number }: ListeningServer, place: BoundAddress): Promise<{ readonly url: string }> {
  const { storage } = workerProcess;
  if (storage !== undefined && workerProcess.server !== number)
    throw wrong('need a program that makes the same servers in each process');
  const { url } = await server.listen(place).catch(async (error: unknown) => {
    await tellFailure(error);
    return freeWorkers(error);
  });
  workUntilStop(server.bound).then(async (times) => {
    const closed = server.close(times);
    // The application ends as in a process of its own. A supervisor sends its signal to the first process alone.
    process.emit('SIGTERM', 'SIGTERM');
    await closed;
    await storage?.close();
    // The worker ends when the application has nothing left to do. Node.js ends a worker without a channel.
    process.channel?.unref();
    setTimeout(() => process.disconnect(), OWN_END_MS).unref();
  });
  return { url };
}

/**
 * The database for a storage process; undefined if processes share the storage anyway.
 * @throws OptionsError for a storage that is none of both.
 */
function databaseOf(storage: TaskStorage | undefined, hasTaskStore: boolean): ServedDatabase | undefined {
  if (hasTaskStore) throw wrong('go with a storage, not with a taskStore');
  if (storage === undefined) return { backend: 'memory' };
  if (storage.shared) return undefined;
  const database = servedDatabases.get(storage);
  if (database === undefined) throw wrong('need a storage of openStorage or openSqliteStorage, or one that is shared');
  return database;
}

function wrong(problem: string): OptionsError {
  return new OptionsError('listen', [`workers: ${problem}`]);
}
