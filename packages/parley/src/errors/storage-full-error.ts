import { StorageError } from './storage-error.js';

/**
 * The storage keeps as many unfinished tasks as it may. Callers see UNAVAILABLE with this message, and when to try
 * again.
 */
export class StorageFullError extends StorageError {
  constructor(message: string) {
    super(message, { told: true });
  }
}
