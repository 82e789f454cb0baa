import { StorageError } from '../errors/storage-error.js';
import type { Clock } from '../runtime/clock.js';

function closedError(): StorageError {
  return new StorageError('The storage is closed');
}

/** The open state of a storage. All its parts share it, so that every call fails after the close. */
export class StorageLifetime {
  protected isOver = false;

  /** @throws StorageError if the storage is closed. */
  check(): void {
    if (this.isOver) throw closedError();
  }

  end(): void {
    this.isOver = true;
  }
}

/** The lifetime of a storage that uses the clock of its process. */
export class ClockedLifetime extends StorageLifetime {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  /**
   * Returns the time of the storage.
   * @throws StorageError if the storage is closed.
   */
  now(): number {
    if (this.isOver) throw closedError();
    return this.#clock.now();
  }
}
