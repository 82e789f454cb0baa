/** The ids of notifications that were handled. An implementation in a database survives restarts. */
export interface SeenNotifications {
  has(id: string): boolean | Promise<boolean>;
  /** Called after the handler has succeeded. */
  add(id: string): void | Promise<void>;
}

/** Ids in memory: those of the last notifications. */
export class SeenInMemory implements SeenNotifications {
  readonly #ids = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > this.#most && oldest !== undefined) this.#ids.delete(oldest);
  }
}
