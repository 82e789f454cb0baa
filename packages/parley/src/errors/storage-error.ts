/**
 * The storage could not do its work now. Local: callers see UNAVAILABLE, the message goes to the log. A storage that tells
 * the log itself, once for all calls that fail for the same reason, says so with `told`.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  /** Whether the log knows already. */
  readonly told: boolean;

  constructor(message: string, options: ErrorOptions & { readonly told?: boolean } = {}) {
    super(message, options);
    this.told = options.told ?? false;
  }
}

/** How loud the log should be about an error that made something fail: what it has been told is for those who debug. */
export function failureLevel(error: unknown): 'error' | 'debug' {
  return error instanceof StorageError && error.told ? 'debug' : 'error';
}
