import { createHash } from 'node:crypto';
import { type FileScope, fileScopeText, isFileId, type StoredFile } from '../file-store.js';

/** The facts of a stored file, as they are beside its bytes. */
export interface StoredRecord {
  readonly scope: FileScope;
  /** The name of the file with the bytes, in the same folder. */
  readonly bytes: string;
  readonly file: StoredFile;
}

/** A name in the folder of an owner: a record, bytes, or a record that is being written. */
export interface FolderEntry {
  readonly kind: 'record' | 'bytes' | 'draft';
}

const NAME = /^[0-9a-f]{32}(?:\.json|\.[0-9a-f]{32}\.(bin|tmp))$/;

/** The folder of an owner: a hash, so that no name from outside is a name on the disk. */
export function folderName(scope: FileScope): string {
  return createHash('sha256').update(fileScopeText(scope)).digest('hex');
}

/** True for the form of our folders. */
export function isFolderName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** The meaning of a name; `undefined` if it is none of ours. */
export function entryOf(name: string): FolderEntry | undefined {
  const found = NAME.exec(name);
  if (found === null) return undefined;
  return { kind: found[1] === 'bin' ? 'bytes' : found[1] === 'tmp' ? 'draft' : 'record' };
}

/** The text of a record. */
export function recordText(record: StoredRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** The record of a text; `undefined` if it is none: files on a disk are not trusted. */
export function readRecord(text: string): StoredRecord | undefined {
  let value: { readonly [Name in keyof StoredRecord]?: Readonly<Record<string, unknown>> } & {
    readonly bytes?: unknown;
  };
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { scope, bytes, file } = value ?? {};
  const isRecord =
    scope != null &&
    file != null &&
    isText(scope.agent) &&
    isText(scope.tenant) &&
    (scope.owner === null || isText(scope.owner)) &&
    isText(bytes) &&
    entryOf(bytes)?.kind === 'bytes' &&
    isText(file.id) &&
    isFileId(file.id) &&
    isText(file.mediaType) &&
    isText(file.digest) &&
    (file.filename === undefined || isText(file.filename)) &&
    [file.size, file.createdAt, file.expiresAt].every((one) => Number.isSafeInteger(one) && Number(one) >= 0);
  return isRecord ? (value as unknown as StoredRecord) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
