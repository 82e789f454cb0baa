import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import type { Clock } from '../../packages/parley/src/runtime/clock.js';
import { SqliteStorage } from '../../packages/parley/src/store/sqlite/sqlite-storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';

const WORKER = fileURLToPath(new URL('../../packages/parley/src/store/sqlite/sqlite-worker.ts', import.meta.url));

/** A folder for database files, and the storage's worker made from its sources: a thread loads JavaScript only. */
export class SqliteFiles {
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-sqlite-'));
  readonly worker = pathToFileURL(join(this.folder, 'worker.mjs'));
  #count = 0;

  constructor() {
    buildSync({
      entryPoints: [WORKER],
      outfile: fileURLToPath(this.worker),
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
  }

  /** The path of a file that nobody has used. */
  fresh(): string {
    this.#count += 1;
    return join(this.folder, `${this.#count}`, 'parley.db');
  }

  open(clock: Clock, path = this.fresh()): Promise<SqliteStorage> {
    return SqliteStorage.open({ path, clock, worker: this.worker, logger: silentLogger });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
