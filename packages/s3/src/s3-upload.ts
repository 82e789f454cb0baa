import type { FileFacts, NewFile } from 'parley-a2a/files';
import type { QuotaReservation } from 'parley-a2a/kit';
import type { S3Bucket } from './s3-bucket.js';
import { element } from './s3-listing.js';

/** The sizes of an upload. */
export interface UploadWay {
  /** Bytes of a part. */
  readonly partBytes: number;
  /** Parts that are sent at the same time. Memory holds one more. */
  readonly parallel: number;
}

/** The outcome of an upload. */
interface UploadedBytes {
  readonly facts: FileFacts;
  /** In bytes. */
  readonly size: number;
}

const MOST_PARTS = 10_000;

/** The size of a part, large enough for the maximum number of parts of a bucket. */
export function partBytesFor(partBytes: number, size: number): number {
  return Math.max(partBytes, Math.ceil(size / MOST_PARTS));
}

/** Begins a multipart upload, and resolves to its id. */
export async function beginParts(bucket: S3Bucket, key: string): Promise<string> {
  const answer = await bucket.text({ method: 'POST', key, query: { uploads: '' }, body: [] });
  const uploadId = element(answer ?? '', 'UploadId');
  if (uploadId === undefined) throw new Error('The bucket began no upload');
  return uploadId;
}

/** Completes a multipart upload: its parts become one object. */
export async function completeParts(
  bucket: S3Bucket,
  { key, uploadId, etags }: { readonly key: string; readonly uploadId: string; readonly etags: readonly string[] },
): Promise<void> {
  const parts = etags.map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  const text = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  await bucket.text({ method: 'POST', key, query: { uploadId }, body: [new TextEncoder().encode(text)] });
}

/** Uploads the bytes of a file: in one request, or in concurrent parts. If anything throws, nothing is left. */
export async function putBytes(bucket: S3Bucket, { key, file, reservation, way }: PutOptions): Promise<UploadedBytes> {
  const partBytes = partBytesFor(way.partBytes, file.size ?? 0);
  const upload = new PartedUpload(bucket, key, way.parallel);
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let size = 0;
  try {
    for await (const chunk of file.chunks) {
      size += chunk.length;
      reservation.cover(size);
      for (let rest = new Uint8Array(chunk); rest.length > 0; ) {
        const taken = rest.subarray(0, partBytes - heldBytes);
        held.push(taken);
        heldBytes += taken.length;
        rest = rest.subarray(taken.length);
        if (heldBytes < partBytes) continue;
        await upload.part(held);
        held = [];
        heldBytes = 0;
      }
    }
    const facts = file.finish();
    if (!upload.hasParts) await bucket.sentPart({ method: 'PUT', key, body: held });
    else {
      if (heldBytes > 0) await upload.part(held);
      await upload.complete();
    }
    return { facts, size };
  } catch (error) {
    await upload.abort();
    throw error;
  }
}

/** A file that is uploaded. */
export interface PutOptions {
  readonly key: string;
  readonly file: NewFile;
  readonly reservation: QuotaReservation;
  readonly way: UploadWay;
}

/** A multipart upload. It begins with the first part. */
class PartedUpload {
  readonly #bucket: S3Bucket;
  readonly #key: string;
  readonly #parallel: number;
  #uploadId: string | undefined;
  readonly #etags: string[] = [];
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(bucket: S3Bucket, key: string, parallel: number) {
    this.#bucket = bucket;
    this.#key = key;
    this.#parallel = parallel;
  }

  get hasParts(): boolean {
    return this.#uploadId !== undefined;
  }

  /** Sends a part. Resolves when the next one may be sent. */
  async part(body: readonly Uint8Array<ArrayBuffer>[]): Promise<void> {
    const uploadId = await this.#begin();
    const number = this.#etags.push('');
    const query = { partNumber: String(number), uploadId };
    const sending = this.#bucket.sentPart({ method: 'PUT', key: this.#key, query, body }).then(
      (etag) => {
        this.#etags[number - 1] = etag;
      },
      (error: unknown) => {
        this.#failure ??= { error };
      },
    );
    const running = sending.finally(() => this.#running.delete(running));
    this.#running.add(running);
    if (this.#running.size >= this.#parallel) await Promise.race(this.#running);
    this.#throwFailure();
  }

  async complete(): Promise<void> {
    await Promise.all(this.#running);
    this.#throwFailure();
    await completeParts(this.#bucket, { key: this.#key, uploadId: await this.#begin(), etags: this.#etags });
    this.#uploadId = undefined;
  }

  /** Removes the parts. First waits for parts that are being sent, which would be stored afterwards. */
  async abort(): Promise<void> {
    await Promise.all(this.#running);
    const uploadId = this.#uploadId;
    if (uploadId === undefined) return;
    // The sweep removes parts that stay.
    await this.#bucket.text({ method: 'DELETE', key: this.#key, query: { uploadId } }).catch(() => undefined);
  }

  async #begin(): Promise<string> {
    this.#uploadId ??= await beginParts(this.#bucket, this.#key);
    return this.#uploadId;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
