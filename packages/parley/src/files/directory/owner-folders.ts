import { join } from 'node:path';
import { SETTLED } from '../../runtime/settled.js';
import type { FileOwner, FileScope, StoredFile } from '../file-store.js';
import { linkFile, namesIn, readText, removedOrLeft, removeFile, syncFolder, writeText } from './folder-files.js';
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

/** Maximum size of a record in bytes: a file name has at most 255 characters. */
const MOST_RECORD = 16_384;

/** The folders of owners in a directory, with a folder for each tenant, and the records in them. */
export class OwnerFolders {
  readonly path: string;
  /** Paths that this process is writing. Sweeps skip them. */
  readonly writing = new Set<string>();
  /** The last queued work on the names of an id, by its folder and id. */
  readonly #lastWork = new Map<string, Promise<void>>();

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

  /** A record of a folder; `undefined` if it is missing or malformed. */
  async record(folder: string, name: string): Promise<StoredRecord | undefined> {
    const record = readRecord((await readText(join(folder, name), MOST_RECORD)) ?? '');
    const isOurs = record !== undefined && `${record.file.id}.json` === name && this.folderOf(record.scope) === folder;
    return isOurs ? record : undefined;
  }

  /** The record of an upload in a folder; `undefined` if it is missing or malformed. */
  async upload(folder: string, name: string): Promise<UploadRecord | undefined> {
    const record = readUpload((await readText(join(folder, name), MOST_RECORD)) ?? '');
    const isOurs =
      record !== undefined && `${record.upload.id}.upload` === name && this.folderOf(record.scope) === folder;
    return isOurs ? record : undefined;
  }

  /**
   * Writes a record and links it to its name, which makes the file visible. False if another file has its id. `token`
   * names the draft.
   */
  async publish(record: StoredRecord | UploadRecord, token: string): Promise<boolean> {
    const [id, kind] = 'file' in record ? [record.file.id, 'json'] : [record.upload.id, 'upload'];
    const folder = this.folderOf(record.scope);
    const draft = join(folder, `${id}.${token}.tmp`);
    this.writing.add(draft);
    try {
      await writeText(draft, recordText(record));
      const isNew = await linkFile(draft, join(folder, `${id}.${kind}`));
      if (isNew) await syncFolder(folder);
      return isNew;
    } finally {
      await removedOrLeft(draft);
      this.writing.delete(draft);
    }
  }

  /** Turns the bytes of an upload into a file. False if the upload was removed. `token` names the draft. */
  completeUpload({ scope, upload, bytes }: UploadRecord, file: StoredFile, token: string): Promise<boolean> {
    const folder = this.folderOf(scope);
    return this.#inTurn(folder, upload.id, async () => {
      if (!(await this.#hasUpload(folder, upload.id, bytes))) return false;
      if (!(await this.publish({ scope, bytes, file }, token))) throw new Error('A file has the id of an upload');
      await removeFile(join(folder, `${upload.id}.upload`));
      await syncFolder(folder);
      return true;
    });
  }

  /**
   * Deletes a record and then its bytes: without the record the file is not found. False if it was missing. A newer
   * file of its id stays.
   */
  delete({ scope, file, bytes }: StoredRecord): Promise<boolean> {
    const folder = this.folderOf(scope);
    const name = `${file.id}.json`;
    return this.#inTurn(folder, file.id, async () => {
      if ((await this.record(folder, name))?.bytes !== bytes) return false;
      // The process may have died after it made the file, and before it removed the upload.
      if (await this.#hasUpload(folder, file.id, bytes)) await removeFile(join(folder, `${file.id}.upload`));
      return this.#deletePair(folder, name, bytes);
    });
  }

  /**
   * Deletes an upload and its bytes. False if it was missing. A newer upload of its id stays. If a file has the bytes,
   * only the record of the upload is deleted, and the result is false.
   */
  deleteUpload({ scope, upload, bytes }: UploadRecord): Promise<boolean> {
    const folder = this.folderOf(scope);
    const name = `${upload.id}.upload`;
    return this.#inTurn(folder, upload.id, async () => {
      if (!(await this.#hasUpload(folder, upload.id, bytes))) return false;
      const isFile = (await this.record(folder, `${upload.id}.json`))?.bytes === bytes;
      if (!isFile) return this.#deletePair(folder, name, bytes);
      await removeFile(join(folder, name));
      return false;
    });
  }

  async #hasUpload(folder: string, id: string, bytes: string): Promise<boolean> {
    return (await this.upload(folder, `${id}.upload`))?.bytes === bytes;
  }

  async #deletePair(folder: string, name: string, bytes: string): Promise<boolean> {
    if (!(await removeFile(join(folder, name)))) return false;
    await removedOrLeft(join(folder, bytes));
    await syncFolder(folder);
    return true;
  }

  /**
   * Runs work that removes names of an id after earlier such work, so that the name still belongs to the record that
   * was read.
   */
  async #inTurn<Result>(folder: string, id: string, work: () => Promise<Result>): Promise<Result> {
    const place = join(folder, id);
    const working = (this.#lastWork.get(place) ?? SETTLED).then(work);
    const done = working.then(
      () => {},
      () => {},
    );
    this.#lastWork.set(place, done);
    try {
      return await working;
    } finally {
      if (this.#lastWork.get(place) === done) this.#lastWork.delete(place);
    }
  }
}

/** The subfolders of this store in a folder. */
export async function foldersIn(path: string): Promise<string[]> {
  return (await namesIn(path)).filter(isFolderName).map((name) => join(path, name));
}

/** Makes a stored file from new facts. */
export function storedFile(
  facts: Pick<StoredFile, 'filename' | 'mediaType' | 'digest'>,
  about: Pick<StoredFile, 'id' | 'size' | 'createdAt' | 'expiresAt'>,
): StoredFile {
  const { id, size, createdAt, expiresAt } = about;
  return { ...facts, id, size, createdAt, expiresAt };
}
