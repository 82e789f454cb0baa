import { OwnerBlockedError } from '../errors/owner-blocked-error.js';
import { isOwnedBy, type OwnerQuery } from '../store/owner-query.js';
import type { FileScope } from './file-store.js';

/** A file that this process is receiving. */
export interface FileArrival {
  /** @throws OwnerBlockedError if the data of its owner was erased meanwhile. */
  check(): void;
  end(): void;
}

/** The files that this process is receiving. An erasure marks those of its owner, which are then not stored. */
export class FileArrivals {
  readonly #open = new Set<{ readonly scope: FileScope; isErased: boolean }>();

  begin(scope: FileScope): FileArrival {
    const arriving = { scope, isErased: false };
    this.#open.add(arriving);
    return {
      check: () => {
        if (arriving.isErased) throw new OwnerBlockedError();
      },
      end: () => void this.#open.delete(arriving),
    };
  }

  /** Call it before the stored files are listed. */
  erase(owner: OwnerQuery): void {
    for (const arriving of this.#open) if (isOwnedBy(owner, arriving.scope)) arriving.isErased = true;
  }
}
