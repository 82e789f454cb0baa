import type {
  FileLimits,
  FileRange,
  FileScope,
  FileStore,
  FileUsage,
  NewFile,
  OpenedFile,
  StoredFile,
} from 'parley-a2a/files';
import {
  type FileArrival,
  FileArrivals,
  type FileOwner,
  isFileId,
  OptionsError,
  type OwnerFiles,
  OwnerQuotas,
  quotaBytes,
  quotaReached,
  StorageError,
} from 'parley-a2a/kit';
import type { IdSource } from 'parley-a2a/server';
import { S3Bucket, type S3BucketOptions, type S3Runtime } from './s3-bucket.js';
import { DATA, FACTS, type KeyFacts, keyFacts, ownerFolder, placeIn, placeOf, readKey } from './s3-keys.js';
import { listedObjects, openUploads } from './s3-listing.js';
import { S3OwnerFiles } from './s3-owner-files.js';
import { putBytes, type UploadWay } from './s3-upload.js';
import { S3Uploads } from './s3-uploads.js';

/** Options of a store in a bucket. */
export interface S3FileStoreOptions extends S3BucketOptions {
  /** Size of the parts of a larger file in bytes, at least 5 MiB. Default: 8 MiB. */
  readonly partBytes?: number;
  /** Maximum number of parts of one file that are sent concurrently. Memory holds one more. Default: 3. */
  readonly parallel?: number;
  /** The age at which a sweep removes the leftovers of a failed upload, in ms. Default: 24 hours. */
  readonly restMs?: number;
}

/** The ports of the store. */
interface S3FileStoreRuntime extends S3Runtime {
  readonly ids: Pick<IdSource, 'random'>;
}

/** A file in the bucket. */
interface FoundFile extends Pick<KeyFacts, 'key' | 'data'> {
  readonly file: StoredFile;
}

const MIB = 1024 * 1024;
const PART_BYTES = 8 * MIB;
const LEAST_PART_BYTES = 5 * MIB;
const PARALLEL = 3;
const REST_MS = 24 * 3_600_000;

/**
 * Files in a bucket of S3 or a compatible server, for any number of processes. A file is two objects: its bytes, and
 * facts that are written last and make it visible. So a failed upload is never found. Each attempt to store a file has
 * its own keys, so that a process never removes objects of another one.
 */
export class S3FileStore implements FileStore {
  readonly uploads: S3Uploads;
  readonly owners: OwnerFiles;
  readonly #arrivals = new FileArrivals();
  readonly #bucket: S3Bucket;
  readonly #way: UploadWay;
  readonly #restMs: number;
  readonly #newToken: () => string;
  readonly #quotas = new OwnerQuotas(async (owner) => (await this.usage(owner)).bytes, { keepsIdle: false });

  /** @throws OptionsError naming every option that is wrong. */
  constructor(options: S3FileStoreOptions, runtime: S3FileStoreRuntime) {
    const { partBytes = PART_BYTES, parallel = PARALLEL, restMs = REST_MS } = options;
    const problems = [
      ...(partBytes >= LEAST_PART_BYTES ? [] : [`partBytes must be at least ${LEAST_PART_BYTES}`]),
      ...(Number.isInteger(parallel) && parallel > 0 ? [] : ['parallel must be a whole number from 1']),
    ];
    if (problems.length > 0) throw new OptionsError('S3FileStore', problems);
    this.#bucket = new S3Bucket(options, runtime);
    this.#newToken = () => runtime.ids.random().replaceAll('-', '');
    this.#way = { partBytes, parallel };
    this.#restMs = restMs;
    this.owners = new S3OwnerFiles({
      bucket: this.#bucket,
      arrivals: this.#arrivals,
      fileOf: async (facts) => (await this.#fileOf(facts))?.file,
    });
    this.uploads = new S3Uploads({
      bucket: this.#bucket,
      quotas: this.#quotas,
      partBytes,
      newToken: this.#newToken,
      checkRoom: (owner, limits) => this.#checkRoom(owner, limits),
      isStored: async (place) => (await this.#factsOf(place)).length > 0,
      chunks: (key, size) => this.#chunks(key, { start: 0, end: size }),
      publish: ({ key }, file) => this.#putFacts(key, file),
    });
  }

  async put(scope: FileScope, file: NewFile, limits: FileLimits): Promise<StoredFile> {
    const place = await placeOf(scope, file.id);
    const known = await this.#factsOf(place);
    const there = await this.#firstOf(known);
    if (there !== undefined) return there.file;
    await this.#delete(scope, known.filter(this.#isExpired));
    const arrival = this.#arrivals.begin(scope);
    try {
      return await this.#put(scope, file, { place, limits, arrival });
    } finally {
      arrival.end();
    }
  }

  async #put(
    scope: FileScope,
    file: NewFile,
    { place, limits, arrival }: { readonly place: string; readonly limits: FileLimits; readonly arrival: FileArrival },
  ): Promise<StoredFile> {
    const reservation = await this.#quotas.reserve(scope, file, limits);
    try {
      const token = this.#newToken();
      const data = `${DATA}${place}.${token}`;
      const { facts, size } = await putBytes(this.#bucket, { key: data, file, reservation, way: this.#way });
      const { id, createdAt, expiresAt } = file;
      const stored = { ...facts, id, size, createdAt, expiresAt };
      const own = keyFacts(FACTS, { place, expiresAt, size, token });
      try {
        arrival.check();
        await this.#putFacts(own.key, stored);
        arrival.check();
        await this.#checkRoom(scope, limits);
      } catch (error) {
        // The facts may have been written in spite of the error.
        await this.#remove([own]).catch(() => {});
        throw error;
      }
      // The file is stored. If this fails, duplicates stay until they expire, and count once.
      const kept = await this.#onlyOne(own, stored).catch(() => stored);
      if (kept === stored) reservation.stored(size);
      else reservation.release();
      return kept;
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  async head(scope: FileScope, id: string): Promise<StoredFile | undefined> {
    return (await this.#find(scope, id))?.file;
  }

  async read(scope: FileScope, id: string, range?: FileRange): Promise<OpenedFile | undefined> {
    const found = await this.#find(scope, id);
    if (found === undefined) return undefined;
    const { file, data } = found;
    const { start, end } = range ?? { start: 0, end: file.size };
    if (start < 0 || end > file.size || start > end) throw new RangeError('The range is not within the file');
    const otherData = async () => {
      const again = await this.#find(scope, id);
      return again?.file.digest === file.digest ? again.data : undefined;
    };
    return { file, chunks: this.#chunks(data, { start, end }, otherData) };
  }

  async delete(scope: FileScope, id: string): Promise<boolean> {
    if (!isFileId(id)) return false;
    const all = await this.#factsOf(await placeOf(scope, id));
    await this.#delete(scope, all);
    return !all.every(this.#isExpired);
  }

  async usage(owner: FileOwner): Promise<FileUsage> {
    // An upload whose file exists counts once.
    const uploads = await this.uploads.countedOf(owner);
    let files = 0;
    let bytes = 0;
    for await (const [{ place, size }] of this.#places(await ownerFolder(owner))) {
      files += 1;
      bytes += quotaBytes(size);
      uploads.delete(place);
    }
    for (const counted of uploads.values()) bytes += counted;
    return { files, bytes };
  }

  /** Both lists have the same order of places, so one page of each is in memory. */
  async sweep(): Promise<number> {
    const now = this.#bucket.clock.now();
    const isOld = (at: number) => at <= now - this.#restMs;
    await this.uploads.sweep(isOld);
    const data = listedObjects(this.#bucket, DATA);
    let next = await data.next();
    let removed = 0;
    const removeRests = async (last: string | undefined, used: ReadonlySet<string>): Promise<void> => {
      for (; next.done !== true; next = await data.next()) {
        const { key, modifiedAt } = next.value;
        if (last !== undefined && placeIn(DATA, key) > last) return;
        if (!used.has(key) && isOld(modifiedAt)) await this.#removeRest(key);
      }
    };
    for await (const all of this.#places()) {
      await removeRests(all[0].place, new Set(all.map(({ data }) => data)));
      const expired = all.filter(this.#isExpired);
      if (expired.length === 0) continue;
      // Two processes that complete one upload write facts about the same bytes.
      const used = all.filter((facts) => !this.#isExpired(facts)).map(({ data }) => data);
      await this.#remove(expired, new Set(used));
      removed += 1;
    }
    await removeRests(undefined, new Set());
    for (const { key, uploadId, beganAt } of await openUploads(this.#bucket, DATA))
      if (isOld(beganAt) && !(await this.uploads.isOpen(placeIn(DATA, key))))
        await this.#bucket.text({ method: 'DELETE', key, query: { uploadId } });
    return removed;
  }

  /** The facts may have been written since the list was read. */
  async #removeRest(key: string): Promise<void> {
    const place = placeIn(DATA, key);
    // The upload is checked first: its record is removed after the facts of the file exist.
    if (await this.uploads.isOpen(place)) return;
    if ((await this.#factsOf(place)).some(({ data }) => data === key)) return;
    await this.#bucket.text({ method: 'DELETE', key });
  }

  async #putFacts(key: string, stored: StoredFile): Promise<void> {
    const { filename, mediaType, digest, createdAt } = stored;
    const text = JSON.stringify({ filename, mediaType, digest, createdAt });
    await this.#bucket.sentPart({ method: 'PUT', key, body: [new TextEncoder().encode(text)] });
  }

  /**
   * Checks the quota again after a write. Of files that several processes store concurrently, the last writer sees all
   * others. So the quota is never exceeded, but two files that fit one by one may both be refused.
   */
  async #checkRoom(owner: FileOwner, { ownerBytes }: FileLimits): Promise<void> {
    if ((await this.usage(owner)).bytes > ownerBytes) throw quotaReached(ownerBytes);
  }

  /**
   * Resolves a race of processes that store the same file, after this process has stored it. All of them keep the first
   * file in the list. The last writer sees all others, so exactly one file is left.
   */
  async #onlyOne(own: KeyFacts, stored: StoredFile): Promise<StoredFile> {
    const all = await this.#factsOf(own.place);
    const others = all.filter(({ key }) => key !== own.key);
    if (others.length === 0) return stored;
    const first = await this.#firstOf(all);
    const isOwn = first === undefined || first.key === own.key;
    await this.#remove(isOwn ? others : [own]);
    return isOwn ? stored : first.file;
  }

  async #delete(scope: FileScope, all: readonly KeyFacts[]): Promise<void> {
    const [first] = all;
    if (first === undefined) return;
    await this.#quotas.remove(scope, first.size, async () => {
      await this.uploads.forgetOf(first.place);
      await this.#remove(all);
      return true;
    });
  }

  /** Removes facts, which make files visible, and then their bytes. */
  async #remove(all: readonly KeyFacts[], used: ReadonlySet<string> = new Set()): Promise<void> {
    for (const { key } of all) await this.#bucket.text({ method: 'DELETE', key });
    for (const data of new Set(all.map(({ data }) => data)))
      if (!used.has(data)) await this.#bucket.text({ method: 'DELETE', key: data });
  }

  async #find(scope: FileScope, id: string): Promise<FoundFile | undefined> {
    return isFileId(id) ? this.#firstOf(await this.#factsOf(await placeOf(scope, id))) : undefined;
  }

  /** The file at a place: the first one that is not expired. */
  async #firstOf(all: readonly KeyFacts[]): Promise<FoundFile | undefined> {
    for (const facts of all) {
      const found = this.#isExpired(facts) ? undefined : await this.#fileOf(facts);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #fileOf({ key, place, data, expiresAt, size }: KeyFacts): Promise<FoundFile | undefined> {
    const text = await this.#bucket.text({ method: 'GET', key });
    const id = place.slice(place.lastIndexOf('/') + 1);
    return text === undefined ? undefined : { key, data, file: { ...readFacts(text), id, expiresAt, size } };
  }

  /** The facts of a place. There is more than one after a race, or if a file is put again after it expired. */
  async #factsOf(place: string): Promise<readonly KeyFacts[]> {
    for await (const all of this.#places(`${place}.`)) return all;
    return [];
  }

  /** The facts of each place in a folder. */
  async *#places(folder = ''): AsyncGenerator<readonly [KeyFacts, ...KeyFacts[]]> {
    let all: [KeyFacts, ...KeyFacts[]] | undefined;
    for await (const { key } of listedObjects(this.#bucket, `${FACTS}${folder}`)) {
      const facts = readKey(FACTS, key);
      if (facts === undefined) continue;
      if (all?.[0].place === facts.place) all.push(facts);
      else {
        if (all !== undefined) yield all;
        all = [facts];
      }
    }
    if (all !== undefined) yield all;
  }

  readonly #isExpired = ({ expiresAt }: KeyFacts): boolean => expiresAt <= this.#bucket.clock.now();

  /**
   * Reads a file, with a new request after a lost connection. If the bytes are removed, it continues with `otherData`:
   * the key of another copy of the file.
   */
  async *#chunks(
    data: string,
    { start, end }: FileRange,
    otherData?: () => Promise<string | undefined>,
  ): AsyncGenerator<Uint8Array> {
    let key = data;
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
        const response = await this.#bucket.openResponse({ method: 'GET', key, headers }, request.signal);
        if (response === undefined) {
          const other = await otherData?.();
          if (other === undefined || other === key)
            throw new StorageError('The file was deleted while it was read', {});
          key = other;
          continue;
        }
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
