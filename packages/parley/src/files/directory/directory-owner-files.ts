import { join } from 'node:path';
import type { OwnerQuery } from '../../store/owner-query.js';
import { isOwnedBy } from '../../store/owner-query.js';
import type { FileArrivals } from '../arrivals.js';
import type { FileScope } from '../file-store.js';
import type { ErasedFiles, OwnedFile, OwnerFiles } from '../owner-files.js';
import type { OwnerQuotas } from '../owner-quotas.js';
import { namesIn, removedIfEmpty, removeFile } from './folder-files.js';
import { foldersIn, type OwnerFolders } from './owner-folders.js';
import { entryOf, ownerFolderName, type StoredRecord, scopeFolderName, type UploadRecord } from './stored-record.js';

/** The parts of the store that owner operations need. */
interface DirectoryOwnerFilesOptions {
  readonly folders: OwnerFolders;
  readonly quotas: OwnerQuotas;
  readonly arrivals: FileArrivals;
  /** Locks the directory for this process. */
  readonly open: () => Promise<void>;
}

/** The files of owners in a directory. The names of folders are hashes, so only the records name the owner. */
export class DirectoryOwnerFiles implements OwnerFiles {
  readonly #options: DirectoryOwnerFilesOptions;

  constructor(options: DirectoryOwnerFilesOptions) {
    this.#options = options;
  }

  async *list(owner: OwnerQuery): AsyncGenerator<OwnedFile> {
    for (const folder of await this.#foldersOf(owner, [])) {
      for await (const record of this.#records(folder)) if ('file' in record) yield record;
    }
  }

  async count(owner: OwnerQuery): Promise<ErasedFiles> {
    const counts = { files: 0, uploads: 0 };
    for (const folder of await this.#foldersOf(owner, [])) {
      for await (const record of this.#records(folder)) counts['file' in record ? 'files' : 'uploads'] += 1;
    }
    return counts;
  }

  async erase(owner: OwnerQuery, agents: readonly string[]): Promise<ErasedFiles> {
    const { folders, quotas, arrivals, open } = this.#options;
    await open();
    arrivals.erase(owner);
    const counts = { files: 0, uploads: 0 };
    for (const folder of await this.#foldersOf(owner, agents)) {
      for await (const record of this.#records(folder)) {
        const isRemoved =
          'file' in record
            ? await quotas.remove(record.scope, record.file.size, () => folders.delete(record))
            : await quotas.remove(record.scope, record.upload.size, () => folders.deleteUpload(record));
        if (isRemoved) counts['file' in record ? 'files' : 'uploads'] += 1;
      }
      // Unreadable records, bytes left by crashes, and files that are being received, whose writer detects the erasure.
      for (const name of await namesIn(folder)) if (entryOf(name) !== undefined) await removeFile(join(folder, name));
      await removedIfEmpty(folder);
      await removedIfEmpty(join(folder, '..'));
    }
    return counts;
  }

  /** The folders of an owner, one for each agent and tenant. The agents are those in records, and those passed in. */
  async #foldersOf(owner: OwnerQuery, agents: readonly string[]): Promise<readonly string[]> {
    const { folders } = this.#options;
    const found = new Set<string>();
    const named = new Set(owner.agent === undefined ? agents : [owner.agent]);
    for (const ofOwner of await folders.owners()) {
      const scope = await this.#scopeIn(ofOwner);
      if (scope !== undefined && isOwnedBy({ ...owner, tenant: scope.tenant }, scope)) named.add(scope.agent);
    }
    for (const agent of named) {
      const ofOwner = join(folders.path, ownerFolderName({ agent, owner: owner.owner }));
      const only = owner.tenant === undefined ? undefined : scopeFolderName({ ...owner, agent, tenant: owner.tenant });
      for (const folder of await foldersIn(ofOwner)) {
        if (only === undefined || folder === join(ofOwner, only)) found.add(folder);
      }
    }
    return [...found];
  }

  /** The scope of the first readable record in the folder of an owner; `undefined` if there is none. */
  async #scopeIn(ofOwner: string): Promise<FileScope | undefined> {
    for (const folder of await foldersIn(ofOwner)) {
      for await (const { scope } of this.#records(folder)) return scope;
    }
    return undefined;
  }

  async *#records(folder: string): AsyncGenerator<StoredRecord | UploadRecord> {
    const { folders } = this.#options;
    for (const name of await namesIn(folder)) {
      const kind = entryOf(name)?.kind;
      if (kind !== 'record' && kind !== 'upload') continue;
      const record = await (kind === 'record' ? folders.record(folder, name) : folders.upload(folder, name));
      if (record !== undefined) yield record;
    }
  }
}
