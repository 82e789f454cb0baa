import { StorageError } from '../errors/storage-error.js';
import type { Clock } from '../runtime/clock.js';

/** The time in which a storage takes calls. All its parts share it, so that each of them refuses after the close. */
export class StorageLifetime {
  #isOver = false;

  /** @throws StorageError if the storage is closed. */
  check(): void {
    if (this.#isOver) throw new StorageError('The storage is closed');
  }

  end(): void {
    this.#isOver = true;
  }
}

/** The lifetime of a storage that lives by the clock of its process. */
export class ClockedLifetime extends StorageLifetime {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  /**
   * The time of the storage.
   * @throws StorageError if the storage is closed.
   */
  now(): number {
    this.check();
    return this.#clock.now();
  }
}
