import type { Logger } from '../../telemetry/logger.js';

/** Maximum number of logged rows. Further ones are only counted. */
const LINES = 100;

/** The unreadable rows of a file. Each row is logged once. */
export class SetAside {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #rows = new Set<string>();

  constructor({ path, logger }: { readonly path: string; readonly logger: Logger }) {
    this.#path = path;
    this.#logger = logger;
  }

  /** Number of unreadable rows since the file was opened. */
  get count(): number {
    return this.#rows.size;
  }

  /** Adds a row: `row` is the id of its task, or another name if the id cannot be read. */
  add(row: string, reason: string): void {
    if (this.#rows.has(row)) return;
    this.#rows.add(row);
    if (this.#rows.size > LINES) return;
    this.#logger.error('a task cannot be read and is set aside', { taskId: row, path: this.#path, reason });
  }
}
