import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import type { Clock } from '../src/runtime/clock.js';
import type { SqliteFileOptions } from '../src/store/sqlite/sqlite-file.js';
import { SqliteStorage } from '../src/store/sqlite/sqlite-storage.js';
import { silentLogger } from '../src/telemetry/logger.js';

const WORKER = fileURLToPath(new URL('../src/store/sqlite/sqlite-worker.ts', import.meta.url));

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

  /**
   * A worker whose thread ends before or after a request, without an answer. `condition` decides when, from `request`,
   * `again` and `count` (the number of requests). If `atStart` is true for `workerData`, the thread ends before it is
   * ready.
   */
  dyingWorker(moment: 'before' | 'after', condition: string, atStart = 'false'): URL {
    const text = readFileSync(this.worker, 'utf8');
    const call = 'role.answer(request, again)';
    const dies = `if ((${condition}) === "now") process.exit(3);`;
    const done = moment === 'before' ? `${dies} const answer = ${call};` : `const answer = ${call}; ${dies}`;
    const dying = text
      .replace('send(["ready"]);', `if (${atStart}) process.exit(4); send(["ready"]);`)
      .replace(
        `send(["answer", id, ${call}]);`,
        `globalThis.count = (globalThis.count ?? 0) + 1; ${done} send(["answer", id, answer]);`,
      );
    if (!dying.includes(done) || !dying.includes('exit(4)')) throw new Error('The worker answers in another way now');
    this.#count += 1;
    const file = join(this.folder, `dying-${this.#count}.mjs`);
    writeFileSync(file, dying);
    return pathToFileURL(file);
  }

  /** The path of a new file. */
  fresh(): string {
    this.#count += 1;
    return join(this.folder, `${this.#count}`, 'parley.db');
  }

  open(clock: Clock, options: Partial<SqliteFileOptions> = {}): Promise<SqliteStorage> {
    return SqliteStorage.open(this.options(clock, options));
  }

  /** Options to open a new file, or the given one. */
  options(clock: Clock, options: Partial<SqliteFileOptions> = {}): SqliteFileOptions {
    return { path: this.fresh(), clock, worker: this.worker, logger: silentLogger, ...options };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
