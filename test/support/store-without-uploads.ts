import type { FileStore } from '../../packages/parley/src/files/file-store.js';

/** A store of files that takes no uploads in several requests. */
export function withoutUploads(store: FileStore): FileStore {
  return {
    put: (...file) => store.put(...file),
    head: (...file) => store.head(...file),
    read: (...file) => store.read(...file),
    delete: (...file) => store.delete(...file),
    usage: (scope) => store.usage(scope),
    sweep: () => store.sweep(),
  };
}
