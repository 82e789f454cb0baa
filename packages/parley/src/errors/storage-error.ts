/**
 * The storage cannot work now. Local: callers get UNAVAILABLE, and the message goes to the log. A storage that logs an
 * outage itself, once for all failing calls, sets `told`.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  /** True if the storage has logged the failure. */
  readonly told: boolean;

  constructor(message: string, options: ErrorOptions & { readonly told?: boolean } = {}) {
    super(message, options);
    this.told = options.told ?? false;
  }
}

/** The level for logging an error. An error that is already in the log goes to debug. */
export function failureLevel(error: unknown): 'error' | 'debug' {
  return error instanceof StorageError && error.told ? 'debug' : 'error';
}
