import { createHash } from 'node:crypto';
import {
  type FileOwner,
  type FileScope,
  fileOwnerText,
  fileScopeText,
  isFileId,
  type StoredFile,
} from '../file-store.js';
import type { NewUpload } from '../upload-store.js';

/** The record of a stored file, beside its bytes. */
export interface StoredRecord {
  readonly scope: FileScope;
  /** The name of the file with the bytes, in the same folder. */
  readonly bytes: string;
  readonly file: StoredFile;
}

/** The record of an upload that is not complete. */
export interface UploadRecord {
  readonly scope: FileScope;
  /** The name of the file with the bytes so far. */
  readonly bytes: string;
  readonly upload: NewUpload;
}

/** A name in the folder of a scope: the record of a file or an upload, bytes, or a draft of a record. */
export interface FolderEntry {
  readonly kind: 'record' | 'upload' | 'bytes' | 'draft';
  /** Of the file. */
  readonly id: string;
}

const NAME = /^([0-9a-f]{32})\.(?:(json|upload)|[0-9a-f]{32}\.(bin|tmp))$/;
const KINDS: Readonly<Record<string, FolderEntry['kind']>> = {
  json: 'record',
  upload: 'upload',
  bin: 'bytes',
  tmp: 'draft',
};

/** The name of the folder of an owner: a hash, so that no untrusted name is used on the disk. */
export function ownerFolderName(owner: FileOwner): string {
  return hash(fileOwnerText(owner));
}

/** The name of the folder of a scope in that of its owner. */
export function scopeFolderName(scope: FileScope): string {
  return hash(fileScopeText(scope));
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** True if a name has the form of a folder of this store. */
export function isFolderName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** Parses a name; `undefined` if the store does not make such names. */
export function entryOf(name: string): FolderEntry | undefined {
  const [, id, record, other] = NAME.exec(name) ?? [];
  const kind = KINDS[record ?? other ?? ''];
  return id === undefined || kind === undefined ? undefined : { kind, id };
}

/** The text of a record. */
export function recordText(record: StoredRecord | UploadRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Parses a record; `undefined` if the text is none, because files on a disk are not trusted. */
export function readRecord(text: string): StoredRecord | undefined {
  const value = parseObject(text);
  const { file } = value;
  const isRecord = hasPlace(value) && isAbout(file) && isText(file.mediaType) && isText(file.digest);
  return isRecord ? (value as unknown as StoredRecord) : undefined;
}

/** Parses the record of an upload; `undefined` if the text is none. */
export function readUpload(text: string): UploadRecord | undefined {
  const value = parseObject(text);
  const { upload } = value;
  const isRecord = hasPlace(value) && isAbout(upload) && isTextOrAbsent(upload.mediaType);
  return isRecord && isTextOrAbsent(upload.digest) ? (value as unknown as UploadRecord) : undefined;
}

type Members = Readonly<Record<string, unknown>>;

function parseObject(text: string): Members {
  try {
    return (JSON.parse(text) as Members | null) ?? {};
  } catch {
    return {};
  }
}

function hasPlace({ scope, bytes }: Members): boolean {
  const { agent, tenant, owner } = (scope ?? {}) as Members;
  const isScope = isText(agent) && isText(tenant) && (owner === null || isText(owner));
  return isScope && isText(bytes) && entryOf(bytes)?.kind === 'bytes';
}

/** True if the value has an id, a size, times, and optionally a name. */
function isAbout(value: unknown): value is Members {
  const { id, filename, size, createdAt, expiresAt } = (value ?? {}) as Members;
  const areNumbers = [size, createdAt, expiresAt].every((one) => Number.isSafeInteger(one) && Number(one) >= 0);
  return isText(id) && isFileId(id) && isTextOrAbsent(filename) && areNumbers;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
