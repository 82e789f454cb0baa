import { OptionsError } from '../../errors/options-error.js';
import { StorageError } from '../../errors/storage-error.js';
import { quotaReached } from '../file-errors.js';
import {
  countedBytes,
  type FileLimits,
  type FileOwner,
  type FileRange,
  type FileScope,
  type FileStore,
  type FileUsage,
  isFileId,
  type NewFile,
  type OpenedFile,
  type StoredFile,
} from '../file-store.js';
import { OwnerQuotas } from '../owner-quotas.js';
import { S3Bucket, type S3BucketOptions, type S3Runtime } from './s3-bucket.js';
import { DATA, FACTS, keyOf, ownerFolder, readKey, scopeFolder } from './s3-keys.js';
import { listedObjects, openUploads } from './s3-listing.js';
import { putBytes, type UploadWay } from './s3-upload.js';
import { S3Uploads } from './s3-uploads.js';

/** Options of a store in a bucket. */
export interface S3FileStoreOptions extends S3BucketOptions {
  /** Bytes of a part of a larger file, at least 5 MiB. Default: 8 MiB. */
  readonly partBytes?: number;
  /** Parts of one file that are sent at the same time. Memory holds one more. Default: 3. */
  readonly parallel?: number;
  /** The age of the rest of a broken upload that the sweep removes, in ms. Default: 24 hours. */
  readonly restMs?: number;
}

const MIB = 1024 * 1024;
const PART_BYTES = 8 * MIB;
const LEAST_PART_BYTES = 5 * MIB;
const PARALLEL = 3;
const REST_MS = 24 * 3_600_000;

/**
 * Files in a bucket of S3 or of a server that speaks its protocol, for any number of processes. A file is two objects:
 * its bytes, and facts that are written last and make it visible. So a broken upload is never found.
 */
export class S3FileStore implements FileStore {
  readonly uploads: S3Uploads;
  readonly #bucket: S3Bucket;
  readonly #way: UploadWay;
  readonly #restMs: number;
  readonly #quotas = new OwnerQuotas(async (owner) => (await this.usage(owner)).bytes, { keepsIdle: false });

  /** @throws OptionsError naming every option that is wrong. */
  constructor(options: S3FileStoreOptions, runtime: S3Runtime) {
    const { partBytes = PART_BYTES, parallel = PARALLEL, restMs = REST_MS } = options;
    const problems = [
      ...(partBytes >= LEAST_PART_BYTES ? [] : [`partBytes must be at least ${LEAST_PART_BYTES}`]),
      ...(Number.isInteger(parallel) && parallel > 0 ? [] : ['parallel must be a whole number from 1']),
    ];
    if (problems.length > 0) throw new OptionsError('S3FileStore', problems);
    this.#bucket = new S3Bucket(options, runtime);
    this.#way = { partBytes, parallel };
    this.#restMs = restMs;
    this.uploads = new S3Uploads({
      bucket: this.#bucket,
      quotas: this.#quotas,
      partBytes,
      checkRoom: (owner, limits) => this.#checkRoom(owner, limits),
      isStored: async (scope, id) => (await this.#found(scope, id)) !== undefined,
      chunks: (key, size) => this.#chunks(key, 0, size),
      publish: (folder, file) => this.#putFacts(folder, file),
    });
  }

  async put(scope: FileScope, file: NewFile, limits: FileLimits): Promise<StoredFile> {
    const there = await this.head(scope, file.id);
    if (there !== undefined) return there;
    const reservation = await this.#quotas.reserve(scope, file, limits);
    try {
      const folder = await scopeFolder(scope);
      const key = `${DATA}${folder}${file.id}`;
      const { facts, size } = await putBytes(this.#bucket, { key, file, reservation, way: this.#way });
      const { id, createdAt, expiresAt } = file;
      const stored = { ...facts, id, size, createdAt, expiresAt };
      await this.#writeFacts(folder, stored, key);
      await this.#checkRoom(scope, limits).catch(async (error: unknown) => {
        await this.#remove(keyOf(FACTS, folder, stored), key);
        throw error;
      });
      reservation.stored(size);
      return stored;
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  async head(scope: FileScope, id: string): Promise<StoredFile | undefined> {
    const found = await this.#found(scope, id);
    return found === undefined || found.file.expiresAt <= this.#bucket.clock.now() ? undefined : found.file;
  }

  async read(scope: FileScope, id: string, range?: FileRange): Promise<OpenedFile | undefined> {
    const file = await this.head(scope, id);
    if (file === undefined) return undefined;
    const { start, end } = range ?? { start: 0, end: file.size };
    if (start < 0 || end > file.size || start > end) throw new RangeError('The range is not within the file');
    const key = `${DATA}${await scopeFolder(scope)}${id}`;
    return { file, chunks: this.#chunks(key, start, end) };
  }

  async delete(scope: FileScope, id: string): Promise<boolean> {
    const found = await this.#found(scope, id);
    if (found === undefined) return false;
    const { file, key } = found;
    await this.#quotas.remove(scope, file.size, async () => {
      const place = `${await scopeFolder(scope)}${id}`;
      await this.uploads.forgetOf(place);
      await this.#remove(key, `${DATA}${place}`);
      return true;
    });
    return file.expiresAt > this.#bucket.clock.now();
  }

  async usage(owner: FileOwner): Promise<FileUsage> {
    // An upload whose file is there counts once.
    const uploads = await this.uploads.countedOf(owner);
    let files = 0;
    let bytes = 0;
    for await (const { key } of listedObjects(this.#bucket, `${FACTS}${await ownerFolder(owner)}`)) {
      const facts = readKey(FACTS, key);
      if (facts === undefined) continue;
      files += 1;
      bytes += countedBytes(facts.size);
      uploads.delete(facts.place);
    }
    for (const counted of uploads.values()) bytes += counted;
    return { files, bytes };
  }

  /** Both lists have the same order of places, so that memory holds one page of each. */
  async sweep(): Promise<number> {
    const now = this.#bucket.clock.now();
    const isOld = (at: number) => at <= now - this.#restMs;
    await this.uploads.sweep(isOld);
    const data = listedObjects(this.#bucket, DATA);
    let next = await data.next();
    let removed = 0;
    const removeRestsBefore = async (place: string | undefined): Promise<void> => {
      for (; next.done !== true; next = await data.next()) {
        const { key, modifiedAt } = next.value;
        const at = key.slice(DATA.length);
        if (place !== undefined && at >= place) return;
        if (isOld(modifiedAt)) await this.#removeRest(key);
      }
    };
    for await (const { key } of listedObjects(this.#bucket, FACTS)) {
      const facts = readKey(FACTS, key);
      if (facts === undefined) continue;
      await removeRestsBefore(facts.place);
      if (next.done !== true && next.value.key === `${DATA}${facts.place}`) next = await data.next();
      if (facts.expiresAt > now) continue;
      await this.#remove(key, `${DATA}${facts.place}`);
      removed += 1;
    }
    await removeRestsBefore(undefined);
    for (const { key, uploadId, beganAt } of await openUploads(this.#bucket, DATA))
      if (isOld(beganAt) && !(await this.uploads.isOpen(key.slice(DATA.length))))
        await this.#bucket.text({ method: 'DELETE', key, query: { uploadId } });
    return removed;
  }

  /** The facts may have been written since the list was read. */
  async #removeRest(key: string): Promise<void> {
    const place = key.slice(DATA.length);
    for await (const _ of listedObjects(this.#bucket, `${FACTS}${place}.`, 1)) return;
    if (await this.uploads.isOpen(place)) return;
    await this.#bucket.text({ method: 'DELETE', key });
  }

  async #writeFacts(folder: string, stored: StoredFile, dataKey: string): Promise<void> {
    try {
      await this.#putFacts(folder, stored);
    } catch (error) {
      // The facts may be there in spite of the error.
      await this.#remove(keyOf(FACTS, folder, stored), dataKey).catch(() => {});
      throw error;
    }
  }

  async #putFacts(folder: string, stored: StoredFile): Promise<void> {
    const { filename, mediaType, digest, createdAt } = stored;
    const text = JSON.stringify({ filename, mediaType, digest, createdAt });
    const key = keyOf(FACTS, folder, stored);
    await this.#bucket.sentPart({ method: 'PUT', key, body: [new TextEncoder().encode(text)] });
  }

  /**
   * Checks the quota once more after a write. Of files that several processes store at the same moment, the last one
   * to be written sees all others. So the quota is never passed; two that fit one by one may both be refused.
   */
  async #checkRoom(owner: FileOwner, { ownerBytes }: FileLimits): Promise<void> {
    if ((await this.usage(owner)).bytes > ownerBytes) throw quotaReached(ownerBytes);
  }

  /** First what makes the file visible. */
  async #remove(key: string, dataKey: string): Promise<void> {
    await this.#bucket.text({ method: 'DELETE', key });
    await this.#bucket.text({ method: 'DELETE', key: dataKey });
  }

  async #found(scope: FileScope, id: string): Promise<{ readonly key: string; readonly file: StoredFile } | undefined> {
    if (!isFileId(id)) return undefined;
    const folder = `${FACTS}${await scopeFolder(scope)}${id}.`;
    for await (const { key } of listedObjects(this.#bucket, folder, 1)) {
      const facts = readKey(FACTS, key);
      const text = facts && (await this.#bucket.text({ method: 'GET', key }));
      if (facts === undefined || text === undefined) return undefined;
      const { expiresAt, size } = facts;
      return { key, file: { ...readFacts(text), id, expiresAt, size } };
    }
    return undefined;
  }

  /** Reads on over a new request if the connection breaks off. */
  async *#chunks(key: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    const { clock, requestMs, retries } = this.#bucket;
    for (let at = start, vain = 0; at < end; ) {
      const request = new AbortController();
      let disarm = (): void => {};
      const arm = (): void => {
        disarm();
        disarm = clock.after(requestMs, () => request.abort(new Error('The bucket is silent')));
      };
      try {
        arm();
        const headers = { range: `bytes=${at}-${end - 1}` };
        const response = await this.#bucket.opened({ method: 'GET', key, headers }, request.signal);
        if (response === undefined) throw new StorageError('The file was deleted while it was read', {});
        if (response.status !== 206) throw new StorageError('The bucket knows no ranges', {});
        for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
          at += chunk.length;
          vain = 0;
          disarm();
          yield chunk;
          arm();
        }
        if (at < end) throw new Error('The file broke off');
      } catch (cause) {
        if (cause instanceof StorageError) throw cause;
        if (vain >= retries) throw new StorageError('The bucket of the files fails', { cause });
        await this.#bucket.pause(vain);
        vain += 1;
      } finally {
        disarm();
        request.abort();
      }
    }
  }
}

function readFacts(text: string): Pick<StoredFile, 'filename' | 'mediaType' | 'digest' | 'createdAt'> {
  const value = JSON.parse(text) as Partial<StoredFile>;
  const { filename, mediaType, digest, createdAt } = value;
  if (typeof mediaType !== 'string' || typeof digest !== 'string' || typeof createdAt !== 'number')
    throw new StorageError('The facts of a file in the bucket are damaged', {});
  return { mediaType, digest, createdAt, ...(typeof filename === 'string' && { filename }) };
}
