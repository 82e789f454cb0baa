import type { Logger } from '../../telemetry/logger.js';

/** Further rows are counted only: a file may be damaged all over. */
const LINES = 100;

/** The rows of a file that cannot be read. The log hears of each row once. */
export class SetAside {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #rows = new Set<string>();

  constructor({ path, logger }: { readonly path: string; readonly logger: Logger }) {
    this.#path = path;
    this.#logger = logger;
  }

  /** Rows that were set aside since the file was opened. */
  get count(): number {
    return this.#rows.size;
  }

  /** Sets a row aside: `row` is the id of its task, or another name if the id cannot be read. */
  add(row: string, reason: string): void {
    if (this.#rows.has(row)) return;
    this.#rows.add(row);
    if (this.#rows.size > LINES) return;
    this.#logger.error('a task cannot be read and is set aside', { taskId: row, path: this.#path, reason });
  }
}
