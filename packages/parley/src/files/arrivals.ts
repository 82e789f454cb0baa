import { OwnerBlockedError } from '../errors/owner-blocked-error.js';
import { isOwnedBy, type OwnerQuery } from '../store/owner-query.js';
import type { FileScope } from './file-store.js';

/** A file that arrives in this process. */
export interface FileArrival {
  /** @throws OwnerBlockedError if an erasure has met the file. */
  check(): void;
  end(): void;
}

/** The files that arrive in this process. An erasure meets those of its owner: they are not kept. */
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

  /** Call it before the stored files are looked at. */
  erase(owner: OwnerQuery): void {
    for (const arriving of this.#open) if (isOwnedBy(owner, arriving.scope)) arriving.isErased = true;
  }
}
