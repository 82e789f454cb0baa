import { StorageError } from './storage-error.js';

/** The storage is full of unfinished tasks. Callers get UNAVAILABLE with this message and a time for the retry. */
export class StorageFullError extends StorageError {
  constructor(message: string) {
    super(message, { told: true });
  }
}
