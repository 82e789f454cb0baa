import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The database of a chaos run, with the faults that it can have. */
export interface ChaosDatabase extends AsyncDisposable {
  readonly backend: string;
  /** Its address, for the harness. */
  readonly url: string;
  /** Its TCP port. Absent: a file of one process. */
  readonly port?: number;
  urlThrough(port: number): string;
  /** Requests whose answers can be lost, by the operation. */
  readonly requests?: Readonly<Record<'accept' | 'append' | 'claim', RegExp>>;
  kill?(): Promise<void>;
  startAgain?(): Promise<void>;
  freeze?(): void;
  thaw?(): void;
  /** From then on it has no room. Absent where that cannot be had here. */
  fill?(): Promise<void>;
  free?(): Promise<void>;
}

/** A SQLite file: one replica, and no faults of its own. */
export function sqliteDatabase(folder: string): ChaosDatabase {
  const url = `sqlite:${join(folder, 'tasks.db')}`;
  return {
    backend: 'sqlite',
    url,
    urlThrough: () => url,
    [Symbol.asyncDispose]: () => rm(join(folder, 'tasks.db'), { force: true }),
  };
}
