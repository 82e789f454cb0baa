import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { type Digester, newDigester } from '../../files/digester.js';
import { backoffMs, pause } from '../backoff.js';
import type { PlainFetch } from '../credentialed-fetch.js';
import { checkAgent } from './check-agent.js';
import type { FileAgent, FileProgress, FileRuntime } from './file-agent.js';
import { refusalOf, sha256Of } from './file-answers.js';
import { reasonOf, requestFile } from './file-requests.js';

/** The beginning of a file that an earlier download has left. */
export interface PartialFile {
  /** The `etag` of that download. */
  readonly etag: string;
  readonly bytes: number;
  /** Reads these bytes again for the digest of the file. Without it the digest is not checked. */
  readonly content?: AsyncIterable<Uint8Array>;
}

/** Options of `downloadFile`. */
export interface DownloadOptions {
  readonly signal?: AbortSignal;
  /** Called after each chunk. An error that it throws ends the download. */
  readonly onProgress?: (progress: FileProgress) => void;
  /** The largest file, in bytes. Default: 16 GiB. */
  readonly maxBytes?: number;
  /** Further attempts in a row that may bring no byte before the download fails. Default: 5. */
  readonly attempts?: number;
  /** Longest silence of the connection before the next attempt, in ms. Default: 60 s. */
  readonly idleMs?: number;
  /** SHA-256 that the file must have, in base64 or hex. Default: that of the answer. */
  readonly digest?: string;
  /** Continues an earlier download if the file has not changed since. */
  readonly from?: PartialFile;
  /**
   * Sends requests for files on other origins than the agent's, such as `guardedFetch()` with no bound. It gets no
   * credentials. Default: such files are refused.
   */
  readonly otherOrigins?: PlainFetch;
}

/** A file that is downloaded. */
export interface FileDownload {
  readonly url: string;
  /** The validator for a later `from`; undefined if the server gives none. */
  readonly etag: string | undefined;
  readonly mediaType: string | undefined;
  /** As the server tells it: not safe as a path. */
  readonly filename: string | undefined;
  /** Bytes of the whole file; undefined if the server does not tell. */
  readonly total: number | undefined;
  /** Place of the first byte of `body`: `from.bytes`, or 0 if the file must be read from its beginning. */
  readonly offset: number;
  /** SHA-256 of the whole file in base64, which the end of `body` checks; undefined if it is unknown. */
  readonly digest: string | undefined;
  /** The bytes from `offset`. Continues after lost connections. Fails if size or digest of the file are wrong. */
  readonly body: ReadableStream<Uint8Array>;
}

const GIB = 1024 ** 3;
const MOST_BYTES = 16 * GIB;
const ATTEMPTS = 5;
const IDLE_MS = 60_000;
const PAUSES = { firstMs: 250, longestMs: 10_000, factor: 2 };

/**
 * Downloads a file of an agent: a url, or a part that has one. The stream continues after lost connections by range
 * requests, as long as the file stays the same.
 * @throws RefusedAddressError for a file on another origin, unless `otherOrigins` is given.
 * @throws A2AError if the agent refuses, or its file is too large. ConnectionError if it cannot be reached.
 */
export async function downloadFile(
  agent: FileAgent,
  file: string | { readonly url: string },
  options: DownloadOptions,
  runtime: FileRuntime,
): Promise<FileDownload> {
  checkAgent('downloadFile', agent);
  const url = typeof file === 'string' ? file : file.url;
  const transfer = new Transfer({ agent, url, options, runtime });
  return transfer.begin();
}

interface TransferOptions {
  readonly agent: FileAgent;
  readonly url: string;
  readonly options: DownloadOptions;
  readonly runtime: FileRuntime;
}

/** One download, over as many requests as needed. */
class Transfer {
  readonly #options: TransferOptions;
  readonly #mostBytes: number;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Ends the request that runs. */
  #request = new AbortController();
  #release = (): void => {};
  #etag: string | undefined;
  #total: number | undefined;
  #digest: string | undefined;
  #hash: Digester | undefined;
  /** Bytes of the file that the caller has. */
  #bytes = 0;
  /** Failed attempts in a row since the last byte. */
  #vain = 0;

  constructor(parts: TransferOptions) {
    this.#options = parts;
    this.#mostBytes = parts.options.maxBytes ?? MOST_BYTES;
    if (parts.options.digest !== undefined) {
      this.#digest = sha256Of(parts.options.digest);
      if (this.#digest === undefined) throw new TypeError('digest must be a SHA-256 in base64 or hex');
    }
  }

  async begin(): Promise<FileDownload> {
    const { url, options } = this.#options;
    const { from } = options;
    this.#hash = await newDigester();
    this.#etag = from?.etag;
    this.#bytes = from?.bytes ?? 0;
    const response = await this.#requestRest(true);
    if (this.#bytes > 0 && from !== undefined) await this.#hashEarlier(from);
    return {
      url,
      etag: this.#etag,
      mediaType: response.headers.get('content-type') ?? undefined,
      filename: filenameIn(response.headers.get('content-disposition')),
      total: this.#total,
      offset: this.#bytes,
      digest: this.#digest,
      body: new ReadableStream<Uint8Array>(
        {
          pull: (controller) => this.#pull(controller),
          cancel: (reason) => this.#end(reason),
        },
        { highWaterMark: 0 },
      ),
    };
  }

  async #hashEarlier({ content }: PartialFile): Promise<void> {
    const hash = content === undefined ? undefined : this.#hash;
    this.#hash = hash;
    if (hash === undefined || content === undefined) return;
    let left = this.#bytes;
    for await (const chunk of content) {
      hash.update(left < chunk.length ? chunk.subarray(0, left) : chunk);
      left -= Math.min(left, chunk.length);
    }
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const chunk = await this.#nextChunk();
      if (chunk === undefined) {
        this.#checkWhole();
        this.#end(undefined);
        controller.close();
        return;
      }
      this.#bytes += chunk.length;
      if (this.#bytes > this.#mostBytes) throw tooLarge(this.#mostBytes);
      if (this.#total !== undefined && this.#bytes > this.#total)
        throw new A2AError('INVALID_AGENT_RESPONSE', 'The file is longer than the server has told');
      this.#hash?.update(chunk);
      this.#options.options.onProgress?.({ bytes: this.#bytes, total: this.#total });
      controller.enqueue(chunk);
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  /** Returns the next chunk, with a new request after a lost connection; undefined at the end of the file. */
  async #nextChunk(): Promise<Uint8Array | undefined> {
    for (;;) {
      const chunk = await this.#read();
      if (chunk === 'lost') await this.#requestRest(false);
      else if (chunk !== undefined || this.#total === undefined || this.#bytes >= this.#total) {
        this.#vain = 0;
        return chunk;
      } else await this.#recover(new ConnectionError('The file broke off', { sent: true }));
    }
  }

  async #read(): Promise<Uint8Array | 'lost' | undefined> {
    if (this.#reader === undefined) return this.#bytes === this.#total ? undefined : 'lost';
    const { clock } = this.#options.runtime;
    const { idleMs = IDLE_MS, signal } = this.#options.options;
    const request = this.#request;
    const disarm = clock.after(idleMs, () => request.abort(silent(idleMs)));
    try {
      const { value, done } = await this.#reader.read();
      return done ? undefined : value;
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = request.signal.aborted ? request.signal.reason : cause;
      await this.#recover(new ConnectionError(`The file broke off: ${reasonOf(reason)}`, { sent: true, cause }));
      return 'lost';
    } finally {
      disarm();
    }
  }

  /** Waits before the next attempt. Throws the error if there is none. */
  async #recover(error: A2AError): Promise<void> {
    const { options, runtime } = this.#options;
    this.#end(error);
    const isChangeable = this.#bytes > 0 && !isStrong(this.#etag);
    if (this.#vain >= (options.attempts ?? ATTEMPTS) || isChangeable) throw error;
    this.#vain++;
    const { retryAfterMs = 0 } = error.details;
    const ms = Math.max(backoffMs(this.#vain, PAUSES, runtime.random), Math.min(retryAfterMs, IDLE_MS));
    await pause(runtime.clock, ms, options.signal);
  }

  /** Requests the rest of the file until there is an answer to read. */
  async #requestRest(isFirst: boolean): Promise<Response> {
    for (;;) {
      try {
        return await this.#requestOnce(isFirst);
      } catch (error) {
        this.#options.options.signal?.throwIfAborted();
        if (!(error instanceof A2AError) || error.code !== 'UNAVAILABLE') {
          this.#end(error);
          throw error;
        }
        await this.#recover(error);
      }
    }
  }

  async #requestOnce(isFirst: boolean): Promise<Response> {
    const { agent, url, options, runtime } = this.#options;
    const { idleMs = IDLE_MS, signal, otherOrigins } = options;
    const request = new AbortController();
    const follow = () => request.abort(signal?.reason);
    signal?.addEventListener('abort', follow, { once: true });
    if (signal?.aborted === true) follow();
    this.#request = request;
    this.#release = () => signal?.removeEventListener('abort', follow);
    const disarm = runtime.clock.after(idleMs, () => request.abort(silent(idleMs)));
    try {
      const init = { headers: this.#headers(), signal: request.signal };
      const response = await requestFile(agent, { url, init, otherOrigins });
      await this.#learn(response, isFirst);
      return response;
    } catch (error) {
      if (error === request.signal.reason && signal?.aborted !== true)
        throw new ConnectionError('The server of the file is silent', { sent: true, cause: error });
      throw error;
    } finally {
      disarm();
    }
  }

  #headers(): Record<string, string> {
    // Ranges count the bytes of the file, not those of a compressed form.
    const headers: Record<string, string> = { 'accept-encoding': 'identity' };
    if (this.#bytes > 0 && this.#etag !== undefined) {
      headers.range = `bytes=${this.#bytes}-`;
      headers['if-range'] = this.#etag;
    }
    return headers;
  }

  async #learn(response: Response, isFirst: boolean): Promise<void> {
    const { status, headers, body } = response;
    const etag = headers.get('etag') ?? undefined;
    const range = contentRange(headers.get('content-range'));
    if (status === 416 && this.#bytes > 0 && range?.total === this.#bytes) {
      response.body?.cancel().catch(() => {});
      this.#total = this.#bytes;
      this.#learnDigest(headers, false);
      return;
    }
    if (status === 206) {
      const isSame = range?.start === this.#bytes && (etag === undefined || etag === this.#etag);
      if (!isSame || (!isFirst && this.#total !== undefined && range.total !== this.#total)) throw changedError();
      this.#total = range.total;
    } else if (status === 200) {
      if (!isFirst && this.#bytes > 0) throw changedError();
      this.#bytes = 0;
      this.#etag = etag;
      this.#total = lengthIn(headers);
    } else throw await refusalOf(response);
    this.#learnDigest(headers, status === 200);
    if (this.#total !== undefined && this.#total > this.#mostBytes) throw tooLarge(this.#mostBytes);
    this.#reader = body?.getReader();
    if (body === null) this.#total ??= this.#bytes;
  }

  #learnDigest(headers: Headers, isWhole: boolean): void {
    const told = headers.get('repr-digest') ?? (isWhole ? headers.get('content-digest') : null);
    if (this.#options.options.digest === undefined) this.#digest = sha256Of(told) ?? this.#digest;
  }

  #checkWhole(): void {
    if (this.#digest === undefined || this.#hash === undefined) return;
    if (this.#hash.digest() !== this.#digest)
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The content of the file does not fit its digest');
  }

  #end(reason: unknown): void {
    this.#release();
    this.#reader?.cancel(reason).catch(() => {});
    this.#reader = undefined;
    this.#request.abort(reason);
  }
}

function silent(idleMs: number): DOMException {
  return new DOMException(`no byte came for ${idleMs} ms`, 'TimeoutError');
}

function changedError(): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', 'The file changed while it was downloaded');
}

function tooLarge(bytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `The file is larger than ${bytes} bytes`);
}

/** Only strong validators promise the same bytes (RFC 9110 §13.1.5). */
function isStrong(etag: string | undefined): boolean {
  return etag?.startsWith('"') === true;
}

function lengthIn(headers: Headers): number | undefined {
  const length = headers.get('content-length');
  const isPlain = (headers.get('content-encoding') ?? 'identity') === 'identity';
  return length !== null && isPlain && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** Parses `bytes 5-9/10` and `bytes * /10` (RFC 9110 §14.4). */
function contentRange(field: string | null): { readonly start?: number; readonly total?: number } | undefined {
  const [, start, total] = /^bytes (?:(\d{1,15})-\d{1,15}|\*)\/(\d{1,15}|\*)$/.exec(field ?? '') ?? [];
  if (total === undefined) return undefined;
  return { ...(start !== undefined && { start: Number(start) }), ...(total !== '*' && { total: Number(total) }) };
}

/** Returns the file name of a header (RFC 6266). */
function filenameIn(disposition: string | null): string | undefined {
  if (disposition === null || disposition.length > 2000) return undefined;
  const encoded = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(disposition)?.[1];
  if (encoded !== undefined) {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return undefined;
    }
  }
  const quoted = /;\s*filename="([^"\\]{0,1000})"/i.exec(disposition)?.[1];
  return quoted ?? /;\s*filename=([^;\s"]{1,1000})/i.exec(disposition)?.[1];
}
