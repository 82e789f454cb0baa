import type {
  AppendedBytes,
  FileLimits,
  FileScope,
  NewUpload,
  PartialUpload,
  StoredFile,
  UploadEnd,
  UploadStore,
} from 'parley-a2a/files';
import {
  type FileOwner,
  isFileId,
  type OwnerQuotas,
  quotaBytes,
  StorageError,
  UploadOffsetError,
  uploadTooLong,
} from 'parley-a2a/kit';
import type { S3Bucket } from './s3-bucket.js';
import { FACTS, type KeyFacts, keyFacts, ownerFolder, placeIn, placeOf, RESTS, readKey, UPLOADS } from './s3-keys.js';
import { type ListedPart, listedObjects, listedParts } from './s3-listing.js';
import { beginParts, completeParts, partBytesFor } from './s3-upload.js';

/** The parts of the store that uploads need. */
interface S3UploadsOptions {
  readonly bucket: S3Bucket;
  readonly quotas: OwnerQuotas;
  /** Bytes of a part of a new upload. */
  readonly partBytes: number;
  /** A token for the key of an upload. */
  readonly newToken: () => string;
  /** Throws if the files of a scope, including one that was just written, exceed the quota. */
  readonly checkRoom: (owner: FileOwner, limits: FileLimits) => Promise<void>;
  /** True if the file of an upload exists, even if it has expired. */
  readonly isStored: (place: string) => Promise<boolean>;
  /** The bytes of an object. */
  readonly chunks: (key: string, size: number) => AsyncIterable<Uint8Array>;
  /** Turns the bytes of an upload into a file. */
  readonly publish: (facts: KeyFacts, file: StoredFile) => Promise<void>;
}

/** An upload in the bucket. */
interface FoundUpload {
  readonly about: NewUpload;
  /** With the key of the record. */
  readonly facts: KeyFacts;
  readonly uploadId: string;
  readonly partBytes: number;
  /** Whole parts, in order. Undefined: the parts have become one object. */
  readonly parts: readonly ListedPart[] | undefined;
  /** Bytes after the last part. */
  readonly rest: Uint8Array<ArrayBuffer>;
  readonly offset: number;
}

/**
 * Uploads in a bucket. Each is a record, a multipart upload with parts of equal size, and a rest object with the bytes
 * after the last whole part. The key of the rest has the number of the parts before it, so that after a crash no byte
 * counts twice. It also has its length, and the longest rest counts, so that a late request cannot remove bytes.
 */
export class S3Uploads implements UploadStore {
  readonly #options: S3UploadsOptions;

  constructor(options: S3UploadsOptions) {
    this.#options = options;
  }

  async begin(scope: FileScope, upload: NewUpload, limits: FileLimits): Promise<void> {
    const { bucket, quotas, newToken, checkRoom } = this.#options;
    const { size, expiresAt } = upload;
    const place = await placeOf(scope, upload.id);
    await this.#removeExpired(`${UPLOADS}${place}.`, (facts, remove) => quotas.remove(scope, facts.size, remove));
    const reservation = await quotas.reserve(scope, upload, limits);
    try {
      const facts = keyFacts(UPLOADS, { place, expiresAt, size, token: newToken() });
      const partBytes = partBytesFor(this.#options.partBytes, size);
      const uploadId = await beginParts(bucket, facts.data);
      const { filename, mediaType, digest, createdAt } = upload;
      const text = JSON.stringify({ filename, mediaType, digest, createdAt, uploadId, partBytes });
      try {
        await bucket.sentPart({ method: 'PUT', key: facts.key, body: [new TextEncoder().encode(text)] });
        await checkRoom(scope, limits);
      } catch (error) {
        await this.#discard(facts, uploadId).catch(() => undefined);
        throw error;
      }
      reservation.stored(size);
    } finally {
      reservation.release();
    }
  }

  async find(scope: FileScope, id: string): Promise<PartialUpload | undefined> {
    const found = await this.#find(scope, id);
    return found && { ...found.about, offset: found.offset };
  }

  async append(scope: FileScope, { id, offset, chunks }: AppendedBytes): Promise<number | undefined> {
    const found = await this.#find(scope, id);
    if (found === undefined) return undefined;
    if (found.offset !== offset) throw new UploadOffsetError(found.offset);
    const writer = new PartWriter(this.#options.bucket, found);
    const { size } = found.about;
    try {
      for await (const chunk of chunks) {
        if (writer.offset + chunk.length > size) throw uploadTooLong(size);
        await writer.write(chunk);
      }
    } finally {
      // Bytes before a lost connection are kept, so that the caller need not send them again.
      await writer.end();
    }
    return writer.offset;
  }

  async complete(scope: FileScope, { id, createdAt, expiresAt, check }: UploadEnd): Promise<StoredFile | undefined> {
    const { bucket, chunks, publish } = this.#options;
    const found = await this.#find(scope, id);
    if (found === undefined) return undefined;
    const { offset, parts, rest, uploadId } = found;
    const { place, size, token, data } = found.facts;
    if (offset !== size) throw new UploadOffsetError(offset);
    if (parts !== undefined) {
      const etags = parts.map(({ etag }) => etag);
      if (rest.length > 0 || parts.length === 0)
        etags.push(await sendLastPart(bucket, { ...found, number: parts.length + 1 }));
      await completeParts(bucket, { key: data, uploadId, etags });
    }
    const file = { ...(await check(chunks(data, size))), id, size, createdAt, expiresAt };
    await publish(keyFacts(FACTS, { place, expiresAt, size, token }), file);
    await this.#forget(found.facts);
    return file;
  }

  async remove(scope: FileScope, id: string): Promise<boolean> {
    const found = await this.#find(scope, id);
    if (found === undefined) return false;
    const { facts, uploadId } = found;
    return this.#options.quotas.remove(scope, facts.size, async () => {
      await this.#discard(facts, uploadId);
      return true;
    });
  }

  /** The counted bytes of the uploads of an owner, by their places. */
  async countedOf(owner: FileOwner): Promise<Map<string, number>> {
    const counted = new Map<string, number>();
    for await (const { key } of listedObjects(this.#options.bucket, `${UPLOADS}${await ownerFolder(owner)}`)) {
      const read = readKey(UPLOADS, key);
      if (read !== undefined) counted.set(read.place, quotaBytes(read.size));
    }
    return counted;
  }

  /** Removes the record of an upload that became a file just before its process died. */
  async forgetOf(place: string): Promise<void> {
    for await (const { key } of listedObjects(this.#options.bucket, `${UPLOADS}${place}.`)) {
      const facts = readKey(UPLOADS, key);
      if (facts !== undefined) await this.#forget(facts);
    }
  }

  /** True if a place has an upload that is not expired. */
  async isOpen(place: string): Promise<boolean> {
    for await (const { key } of listedObjects(this.#options.bucket, `${UPLOADS}${place}.`, 1)) {
      return (readKey(UPLOADS, key)?.expiresAt ?? 0) > this.#options.bucket.clock.now();
    }
    return false;
  }

  /** Removes expired uploads, and rests without an upload. The sweep of the data removes the bytes. */
  async sweep(isOld: (modifiedAt: number) => boolean): Promise<void> {
    const { bucket } = this.#options;
    await this.#removeExpired(UPLOADS, (_, remove) => remove());
    for await (const { key, modifiedAt } of listedObjects(bucket, RESTS)) {
      if (isOld(modifiedAt) && !(await this.isOpen(placeIn(RESTS, key)))) await bucket.text({ method: 'DELETE', key });
    }
  }

  /** Removes expired uploads whose records have keys with this beginning. */
  async #removeExpired(
    prefix: string,
    removing: (facts: KeyFacts, remove: () => Promise<boolean>) => Promise<boolean>,
  ): Promise<void> {
    const { bucket } = this.#options;
    for await (const { key } of listedObjects(bucket, prefix)) {
      const facts = readKey(UPLOADS, key);
      if (facts === undefined || facts.expiresAt > bucket.clock.now()) continue;
      await removing(facts, async () => {
        const record = await this.#record(key);
        if (record !== undefined) await abortUpload(bucket, facts.data, record.uploadId);
        await this.#forget(facts);
        return true;
      });
    }
  }

  /** Removes an upload with its bytes. Its record is removed last, so that a failed removal can be repeated. */
  async #discard(facts: KeyFacts, uploadId: string): Promise<void> {
    const { bucket } = this.#options;
    await abortUpload(bucket, facts.data, uploadId);
    await bucket.text({ method: 'DELETE', key: facts.data });
    await this.#forget(facts);
  }

  async #forget(facts: KeyFacts): Promise<void> {
    const { bucket } = this.#options;
    for await (const { key } of listedObjects(bucket, restsOf(facts))) await bucket.text({ method: 'DELETE', key });
    await bucket.text({ method: 'DELETE', key: facts.key });
  }

  async #find(scope: FileScope, id: string): Promise<FoundUpload | undefined> {
    if (!isFileId(id)) return undefined;
    const { bucket } = this.#options;
    const place = await placeOf(scope, id);
    for await (const { key } of listedObjects(bucket, `${UPLOADS}${place}.`, 1)) {
      const facts = readKey(UPLOADS, key);
      if (facts === undefined || facts.expiresAt <= bucket.clock.now()) return undefined;
      const record = await this.#record(key);
      // The process may have died after it made the file, and before it removed the upload.
      if (record === undefined || (await this.#options.isStored(place))) return undefined;
      const { size, expiresAt, data } = facts;
      const { uploadId, partBytes, ...rest } = record;
      const about = { ...rest, id, size, expiresAt };
      const parts = await listedParts(bucket, data, uploadId);
      if (parts !== undefined)
        return { about, facts, uploadId, partBytes, ...(await this.#bytes(facts, parts, partBytes)) };
      // A process has joined the parts, and died before the end.
      for await (const _ of listedObjects(bucket, data, 1))
        return { about, facts, uploadId, partBytes, parts: undefined, rest: new Uint8Array(), offset: size };
      return undefined;
    }
    return undefined;
  }

  /** The whole parts without a gap, and the rest after them. */
  async #bytes(facts: KeyFacts, listed: readonly ListedPart[], partBytes: number) {
    const parts: ListedPart[] = [];
    // A shorter part is the last one, of an interrupted completion. Its bytes are in the rest, too.
    for (const part of listed) if (part.number === parts.length + 1 && part.size === partBytes) parts.push(part);
    const rest = await this.#rest(`${restsOf(facts)}${parts.length}.`, partBytes);
    return { parts, rest, offset: parts.length * partBytes + rest.length };
  }

  async #rest(folder: string, partBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const { bucket } = this.#options;
    for (let attempt = 0; attempt <= bucket.retries; attempt++) {
      const [longest] = await listedRests(bucket, folder);
      if (longest === undefined) return new Uint8Array();
      const rest = await bucket.bytes({ method: 'GET', key: longest }, partBytes);
      if (rest !== undefined) return rest;
      // Another process has written a longer one since the list was read.
    }
    throw new StorageError('The bytes of an upload change too often', {});
  }

  async #record(key: string) {
    const text = await this.#options.bucket.text({ method: 'GET', key });
    if (text === undefined) return undefined;
    const { filename, mediaType, digest, createdAt, uploadId, partBytes } = JSON.parse(text) as Partial<NewUpload> & {
      readonly uploadId?: unknown;
      readonly partBytes?: unknown;
    };
    if (typeof uploadId !== 'string' || typeof partBytes !== 'number' || typeof createdAt !== 'number')
      return undefined;
    return {
      createdAt,
      uploadId,
      partBytes,
      ...(filename !== undefined && { filename }),
      ...(mediaType !== undefined && { mediaType }),
      ...(digest !== undefined && { digest }),
    };
  }
}

/** Sends the bytes of one request as parts, one after another, and buffers the rest. */
class PartWriter {
  readonly #bucket: S3Bucket;
  readonly #upload: FoundUpload;
  #parts: number;
  #held: Uint8Array<ArrayBuffer>[];
  #heldBytes: number;
  #hasNew = false;
  #sending: Promise<unknown> | undefined;
  /** The bytes of the upload so far. */
  offset: number;

  constructor(bucket: S3Bucket, upload: FoundUpload) {
    this.#bucket = bucket;
    this.#upload = upload;
    this.#parts = upload.parts?.length ?? 0;
    this.#held = upload.rest.length > 0 ? [upload.rest] : [];
    this.#heldBytes = upload.rest.length;
    this.offset = upload.offset;
  }

  async write(chunk: Uint8Array): Promise<void> {
    const { partBytes } = this.#upload;
    this.offset += chunk.length;
    for (let rest = new Uint8Array(chunk); rest.length > 0; ) {
      const taken = rest.subarray(0, partBytes - this.#heldBytes);
      this.#held.push(taken);
      this.#heldBytes += taken.length;
      this.#hasNew = true;
      rest = rest.subarray(taken.length);
      if (this.#heldBytes === partBytes) await this.#sendPart();
    }
  }

  /** Waits for the parts, and stores the rest. */
  async end(): Promise<void> {
    await this.#sending;
    if (!this.#hasNew || this.#heldBytes === 0) return;
    const folder = `${restsOf(this.#upload.facts)}${this.#parts}.`;
    await this.#bucket.sentPart({ method: 'PUT', key: `${folder}${this.#heldBytes}`, body: this.#held });
    const [, ...shorter] = await listedRests(this.#bucket, folder);
    for (const key of shorter) await this.#bucket.text({ method: 'DELETE', key });
  }

  /** The next part is filled while this one is sent. */
  async #sendPart(): Promise<void> {
    await this.#sending;
    this.#parts += 1;
    const { facts, uploadId } = this.#upload;
    const query = { partNumber: String(this.#parts), uploadId };
    const part = { method: 'PUT', key: facts.data, query, body: this.#held } as const;
    this.#sending = this.#bucket.sentPart(part);
    // The next part or `end` handles the error.
    this.#sending.catch(() => {});
    this.#held = [];
    this.#heldBytes = 0;
    this.#hasNew = false;
  }
}

/** The beginning of the keys of the bytes after the last whole part. */
function restsOf({ place, token }: KeyFacts): string {
  return `${RESTS}${place}.${token}.`;
}

/** The keys of the bytes after so many parts, the longest first. */
async function listedRests(bucket: S3Bucket, folder: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of listedObjects(bucket, folder)) keys.push(key);
  const length = (key: string) => Number(key.slice(folder.length));
  return keys.sort((one, other) => length(other) - length(one));
}

/** Uploads the rest as the last part. */
function sendLastPart(bucket: S3Bucket, { facts, uploadId, rest, number }: FoundUpload & { readonly number: number }) {
  const query = { partNumber: String(number), uploadId };
  return bucket.sentPart({ method: 'PUT', key: facts.data, query, body: [rest] });
}

/** Removes parts that have not become an object. */
async function abortUpload(bucket: S3Bucket, key: string, uploadId: string): Promise<void> {
  await bucket.text({ method: 'DELETE', key, query: { uploadId } });
}
