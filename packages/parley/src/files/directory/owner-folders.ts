import { join } from 'node:path';
import type { FileOwner, FileScope, StoredFile } from '../file-store.js';
import { linked, namesIn, readText, removed, syncFolder, writeText } from './folder-files.js';
import {
  isFolderName,
  ownerFolderName,
  readRecord,
  readUpload,
  recordText,
  type StoredRecord,
  scopeFolderName,
  type UploadRecord,
} from './stored-record.js';

/** The longest record: a name has at most 255 characters. */
const MOST_RECORD = 16_384;

/** The folders of owners in a directory, with a folder for each tenant, and the records in them. */
export class OwnerFolders {
  readonly path: string;
  /** Paths that this process writes now. A sweep leaves them alone. */
  readonly writing = new Set<string>();

  constructor(path: string) {
    this.path = path;
  }

  folderOf(scope: FileScope): string {
    return join(this.path, ownerFolderName(scope), scopeFolderName(scope));
  }

  /** The folders of all owners. */
  owners(): Promise<string[]> {
    return foldersIn(this.path);
  }

  /** The folders of an owner, one for each tenant with files. */
  foldersOf(owner: FileOwner): Promise<string[]> {
    return foldersIn(join(this.path, ownerFolderName(owner)));
  }

  /** A record of a folder; `undefined` if it is missing or no record of ours. */
  async record(folder: string, name: string): Promise<StoredRecord | undefined> {
    const record = readRecord((await readText(join(folder, name), MOST_RECORD)) ?? '');
    const isOurs = record !== undefined && `${record.file.id}.json` === name && this.folderOf(record.scope) === folder;
    return isOurs ? record : undefined;
  }

  /** The record of an upload in a folder; `undefined` if it is missing or none of ours. */
  async upload(folder: string, name: string): Promise<UploadRecord | undefined> {
    const record = readUpload((await readText(join(folder, name), MOST_RECORD)) ?? '');
    const isOurs =
      record !== undefined && `${record.upload.id}.upload` === name && this.folderOf(record.scope) === folder;
    return isOurs ? record : undefined;
  }

  /**
   * Writes a record and gives it its name: the file is found from then on. False if another file has its id. `token`
   * makes the name of the draft.
   */
  async publish(record: StoredRecord | UploadRecord, token: string): Promise<boolean> {
    const [id, kind] = 'file' in record ? [record.file.id, 'json'] : [record.upload.id, 'upload'];
    const folder = this.folderOf(record.scope);
    const draft = join(folder, `${id}.${token}.tmp`);
    this.writing.add(draft);
    try {
      await writeText(draft, recordText(record));
      const isNew = await linked(draft, join(folder, `${id}.${kind}`));
      if (isNew) await syncFolder(folder);
      return isNew;
    } finally {
      await removed(draft);
      this.writing.delete(draft);
    }
  }

  /** Deletes a record and then its bytes: without the record the file is not found. False if it was gone. */
  async delete({ scope, file, bytes }: StoredRecord): Promise<boolean> {
    return this.#deleted(scope, `${file.id}.json`, bytes);
  }

  /** Deletes an upload. False if it was gone. */
  async deleteUpload({ scope, upload, bytes }: UploadRecord): Promise<boolean> {
    return this.#deleted(scope, `${upload.id}.upload`, bytes);
  }

  async #deleted(scope: FileScope, name: string, bytes: string): Promise<boolean> {
    const folder = this.folderOf(scope);
    if (!(await removed(join(folder, name)))) return false;
    await removed(join(folder, bytes));
    await syncFolder(folder);
    return true;
  }
}

/** The folders of ours in a folder. */
export async function foldersIn(path: string): Promise<string[]> {
  return (await namesIn(path)).filter(isFolderName).map((name) => join(path, name));
}

/** The stored file of new facts. */
export function storedFile(
  facts: Pick<StoredFile, 'filename' | 'mediaType' | 'digest'>,
  about: Pick<StoredFile, 'id' | 'size' | 'createdAt' | 'expiresAt'>,
): StoredFile {
  const { id, size, createdAt, expiresAt } = about;
  return { ...facts, id, size, createdAt, expiresAt };
}
