import type { TaskStorage } from '../store/task-storage.js';

/** Facts of a worker. Its start sets them before the program runs. In any other process none is set. */
interface WorkerProcess {
  /** The connection to the storage process. Absent without one. */
  storage?: TaskStorage;
  /** The file that the storage process has. */
  path?: string;
  /** The number of the server that has this storage, in the order in which the program makes servers. */
  server?: number;
}

/** The facts of this process. */
export const workerProcess: WorkerProcess = {};
