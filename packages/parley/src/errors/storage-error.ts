/** The storage could not do its work now. Local: callers see UNAVAILABLE, the message goes to the log. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}
