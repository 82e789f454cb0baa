/**
 * The storage cannot work now. Local: callers get UNAVAILABLE, and the message goes to the log. A storage that logs an
 * outage itself, once for all failing calls, sets `told`. `/readyz` shows `reason`.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  /** True if the storage has logged the failure. */
  readonly told: boolean;
  /** The reason without addresses, names and texts of the server. Absent: it is only in the log. */
  readonly reason: string | undefined;
  /** A fault that the operator can mend; absent for all other failures. */
  readonly fault: StorageFault | undefined;

  constructor(message: string, options: StorageErrorOptions = {}) {
    super(message, options);
    this.told = options.told ?? false;
    this.reason = options.reason;
    this.fault = options.fault;
  }
}

/** `in-use`: another process has the file. `missing`: there is none. `not-empty`: the target of a copy has tasks. */
type StorageFault = 'in-use' | 'missing' | 'not-empty';

/** Options of a StorageError. */
export interface StorageErrorOptions extends ErrorOptions {
  readonly told?: boolean;
  readonly reason?: string | undefined;
  readonly fault?: StorageFault | undefined;
}

/** The level for logging an error. An error that is already in the log goes to debug. */
export function failureLevel(error: unknown): 'error' | 'debug' {
  return error instanceof StorageError && error.told ? 'debug' : 'error';
}
