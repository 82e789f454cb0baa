import { StorageError } from '../errors/storage-error.js';
import type { Clock } from '../runtime/clock.js';

function closedError(): StorageError {
  return new StorageError('The storage is closed');
}

/** The clock of a closed storage. */
const CLOSED = {
  now(): never {
    throw closedError();
  },
};

/** The open state of a storage. All its parts share it, so that every call fails after the close. */
export class StorageLifetime {
  #isOver = false;

  /** @throws StorageError if the storage is closed. */
  check(): void {
    if (this.#isOver) throw closedError();
  }

  end(): void {
    this.#isOver = true;
  }
}

/** The time of a storage that uses the clock of its process, until the storage is closed. */
export class ClockedLifetime {
  #clock: Pick<Clock, 'now'>;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the time of the storage.
   * @throws StorageError if the storage is closed.
   */
  now(): number {
    return this.#clock.now();
  }

  /** @throws StorageError if the storage is closed. */
  check(): void {
    this.#clock.now();
  }

  end(): void {
    this.#clock = CLOSED;
  }
}
