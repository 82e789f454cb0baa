import { A2AError } from '../../errors/a2a-error.js';
import { arrivingFile, type DeclaredFile } from '../../files/arriving-file.js';
import { newDigester } from '../../files/digester.js';
import { type FileScope, fileScopeText, type StoredFile } from '../../files/file-store.js';
import type { NewUpload, PartialUpload, UploadStore } from '../../files/upload-store.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/id-source.js';
import type { FileRules } from './file-keeper.js';

/** The ports of uploads in several requests. */
interface ResumableUploadsOptions {
  readonly store: UploadStore;
  readonly rules: FileRules;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Bytes that arrive for an upload. */
interface ArrivingBytes {
  readonly id: string;
  readonly offset: number;
  readonly source: AsyncIterable<Uint8Array>;
}

/** A request that appends to an upload now. */
interface RunningAppend {
  readonly stop: AbortController;
  readonly done: Promise<unknown>;
}

/**
 * Uploads in several requests. One request at a time appends to an upload. A later one ends it: after a cut connection
 * the server may wait for a peer that has left.
 */
export class ResumableUploads {
  readonly #options: ResumableUploadsOptions;
  readonly #running = new Map<string, RunningAppend>();

  constructor(options: ResumableUploadsOptions) {
    this.#options = options;
  }

  /**
   * Begins an upload of a declared size.
   * @throws A2AError PAYLOAD_TOO_LARGE or RESOURCE_EXHAUSTED.
   */
  async begin(scope: FileScope, declared: DeclaredFile & { readonly size: number }): Promise<NewUpload> {
    const { store, rules, clock, ids } = this.#options;
    const createdAt = clock.now();
    const id = ids.random().replaceAll('-', '');
    const upload = { ...declared, id, createdAt, expiresAt: createdAt + rules.unfinishedMs };
    await store.begin(scope, upload, rules);
    return upload;
  }

  /** An upload. Ends the request that appends to it, so that its offset stays. */
  async find(scope: FileScope, id: string): Promise<PartialUpload | undefined> {
    await this.#ended(keyOf(scope, id));
    return this.#options.store.find(scope, id);
  }

  /**
   * Appends bytes. Resolves to the new offset, and to the file once it is whole; `undefined` without such an upload.
   * @throws UploadOffsetError, RefusedTypeError or another A2AError. A whole file that is refused is removed.
   */
  async append(
    scope: FileScope,
    { id, offset, source }: ArrivingBytes,
  ): Promise<{ readonly offset: number; readonly file?: StoredFile | undefined } | undefined> {
    const key = keyOf(scope, id);
    const stop = new AbortController();
    const { promise: done, resolve } = Promise.withResolvers<void>();
    while (this.#running.has(key)) await this.#ended(key);
    this.#running.set(key, { stop, done });
    try {
      const { store } = this.#options;
      const next = await store.append(scope, { id, offset, chunks: untilStopped(source, stop.signal) });
      const upload = next === undefined ? undefined : await store.find(scope, id);
      if (next === undefined || upload === undefined) return undefined;
      return { offset: next, file: next < upload.size ? undefined : await this.#completed(scope, upload) };
    } finally {
      this.#running.delete(key);
      resolve();
    }
  }

  /** Removes an upload. False if there is none of this id. */
  async remove(scope: FileScope, id: string): Promise<boolean> {
    await this.#ended(keyOf(scope, id));
    return this.#options.store.remove(scope, id);
  }

  async #completed(scope: FileScope, upload: PartialUpload): Promise<StoredFile | undefined> {
    const { store, rules, clock } = this.#options;
    const { id } = upload;
    const createdAt = clock.now();
    const times = { createdAt, expiresAt: createdAt + rules.expiryMs };
    const check = async (source: AsyncIterable<Uint8Array>) => {
      const digester = await newDigester();
      const file = arrivingFile({ id, ...times, declared: upload, source, rules: rules.mediaTypes, digester });
      for await (const _ of file.chunks) {
        // The file is checked on the way.
      }
      return file.finish();
    };
    try {
      return await store.complete(scope, { id, ...times, check });
    } catch (error) {
      // No further byte would make it right.
      if (error instanceof A2AError) await store.remove(scope, id);
      throw error;
    }
  }

  async #ended(key: string): Promise<void> {
    const running = this.#running.get(key);
    running?.stop.abort(new A2AError('INVALID_REQUEST', 'A later request goes on with this upload'));
    await running?.done;
  }
}

function keyOf(scope: FileScope, id: string): string {
  return `${id} ${fileScopeText(scope)}`;
}

/** The chunks until the signal. A source that is stuck is left to its own time limit. */
async function* untilStopped(source: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  let isDone = false;
  const next = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      const settled = () => signal.removeEventListener('abort', stop);
      iterator.next().then(resolve, reject).finally(settled);
    });
  try {
    for (;;) {
      const { done, value } = await next();
      isDone = done === true;
      if (isDone) return;
      yield value;
    }
  } finally {
    if (!isDone) iterator.return?.().catch(() => {});
  }
}
