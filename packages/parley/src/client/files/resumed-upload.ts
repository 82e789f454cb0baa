import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { type Digester, newDigester } from '../../files/digester.js';
import { TUS_VERSION } from '../../operations/files-extension.js';
import { toBase64 } from '../../runtime/base64-bytes.js';
import { backoffMs, pause, waitAfter } from '../backoff.js';
import { type FileAgent, type FileProgress, type FileRuntime, fileUrl } from './file-agent.js';
import { refusalOf, sha256Of, type UploadedFile, uploadedFile } from './file-answers.js';
import { reasonOf } from './file-requests.js';
import { observeStream } from './sent-stream.js';
import { TransferWatch } from './transfer-watch.js';

/** The size in bytes from which uploads are resumable. */
export const RESUMED_BYTES = 8 * 1024 * 1024;
const ATTEMPTS = 5;
const PAUSES = { firstMs: 250, longestMs: 10_000, factor: 2 };
const LONGEST_WAIT_MS = 60_000;
/** Answers after which the client asks for the offset and sends the rest. */
const BROKEN_OFF: readonly number[] = [408, 409, 423];
const GONE: readonly number[] = [404, 410];

/** An upload that resumes after a lost connection. */
interface ResumedUploadOptions {
  /** The place that takes files. */
  readonly url: string;
  readonly filename: string | undefined;
  readonly mediaType: string;
  readonly attempts: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly idleMs: number;
  readonly onProgress: ((progress: FileProgress) => void) | undefined;
  /** Called with the url of a new upload. */
  readonly onBegin: ((url: string) => void) | undefined;
  /** The url of an upload of the same content that an earlier process has begun. */
  readonly from: string | undefined;
}

/**
 * Uploads a file by the protocol tus 1.0.0: in one request, with further requests for the rest after a lost connection.
 */
export async function resumedUpload(
  agent: FileAgent,
  source: Blob | Uint8Array<ArrayBuffer>,
  options: ResumedUploadOptions,
  runtime: FileRuntime,
): Promise<UploadedFile> {
  const content = source instanceof Blob ? source : new Blob([source]);
  return new ResumedUpload({ agent, content, options, runtime, hash: await newDigester() }).run();
}

interface ResumedUploadSetup {
  readonly agent: FileAgent;
  readonly content: Blob;
  readonly options: ResumedUploadOptions;
  readonly runtime: FileRuntime;
  readonly hash: Digester;
}

class ResumedUpload {
  readonly #setup: ResumedUploadSetup;
  /** The url of the upload, once it has begun. */
  #place: string | undefined;
  /** Bytes that the agent has; undefined until it reports them. */
  #offset: number | undefined = 0;
  /** The largest number of bytes that the agent has reported. */
  #most = 0;
  /** Bytes whose digest is known. They are sent again after a cut, and not digested again. */
  #hashed = 0;
  #hasRenewed = false;
  /** True until the agent has reported the offset of an upload that an earlier process has begun. */
  #isEarlier: boolean;

  constructor(parts: ResumedUploadSetup) {
    this.#setup = parts;
    this.#place = parts.options.from;
    this.#isEarlier = this.#place !== undefined;
    if (this.#isEarlier) this.#offset = undefined;
  }

  async run(): Promise<UploadedFile> {
    const { options, runtime } = this.#setup;
    for (let vain = 0; ; ) {
      try {
        const file = await this.#step();
        if (file !== undefined) return this.#check(file);
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof A2AError) || error.code !== 'UNAVAILABLE') throw error;
        if (vain >= (options.attempts ?? ATTEMPTS)) throw error;
        vain += 1;
        this.#offset = undefined;
        const ms = waitAfter(error, backoffMs(vain, PAUSES, runtime.random), LONGEST_WAIT_MS);
        await pause(runtime.clock, ms, options.signal);
      }
      if (this.#offset !== undefined && this.#offset > this.#most) {
        this.#most = this.#offset;
        vain = 0;
      }
    }
  }

  /** Sends one request. Resolves to the file if that was the last one. */
  async #step(): Promise<UploadedFile | undefined> {
    if (this.#place === undefined) await this.#begin(this.#setup.options.url);
    else if (this.#offset === undefined) await this.#ask(this.#place);
    else return this.#append(this.#place, this.#offset);
  }

  async #begin(url: string): Promise<void> {
    const { content, options } = this.#setup;
    const { filename, mediaType } = options;
    const metadata = [
      ...(filename === undefined ? [] : [`filename ${textAsBase64(filename)}`]),
      `filetype ${textAsBase64(mediaType)}`,
    ];
    const headers = { 'upload-length': String(content.size), 'upload-metadata': metadata.join(',') };
    const response = await this.#send(url, { method: 'POST', headers });
    if (response === undefined) return;
    const location = response.headers.get('location');
    response.body?.cancel().catch(() => {});
    if (response.status !== 201 || location === null)
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent declares uploads in several requests, and begins none');
    this.#place = fileUrl(location, url);
    options.onBegin?.(this.#place);
  }

  async #ask(place: string): Promise<void> {
    const response = await this.#send(place, { method: 'HEAD' });
    if (response === undefined) return;
    if (this.#isEarlier) await this.#hashEarlier(response);
    if (this.#place !== undefined) this.#learn(response);
  }

  /**
   * Reads again the bytes that the agent has from an earlier process, for the digest. An upload of another size is not
   * continued.
   */
  async #hashEarlier({ headers }: Response): Promise<void> {
    const { content } = this.#setup;
    this.#isEarlier = false;
    if (headers.get('upload-length') !== String(content.size)) return this.#restart();
    const offset = Math.min(Number(headers.get('upload-offset')), content.size);
    if (!(offset > 0)) return;
    const reader = content.slice(0, offset).stream().getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) this.#hash(read.value, this.#hashed);
  }

  /** Begins a new upload in place of an earlier one. */
  #restart(): void {
    this.#isEarlier = false;
    this.#place = undefined;
    this.#offset = 0;
  }

  async #append(place: string, offset: number): Promise<UploadedFile | undefined> {
    const { content, options } = this.#setup;
    const headers = {
      'content-type': 'application/offset+octet-stream',
      'content-length': String(content.size - offset),
      'upload-offset': String(offset),
    };
    let at = offset;
    const response = await this.#send(place, { method: 'PATCH', headers }, (watch, failed) =>
      observeStream(content.slice(offset).stream(), {
        take: (chunk) => {
          this.#hash(chunk, at);
          at += chunk.length;
          watch.moved();
          options.onProgress?.({ bytes: at, total: content.size });
        },
        failed,
      }),
    );
    if (response === undefined) return undefined;
    if (response.status !== 204) return uploadedFile(response);
    this.#learn(response);
    if (this.#offset === offset) throw new A2AError('UNAVAILABLE', 'The agent has taken no byte of the file');
    return undefined;
  }

  /** Sends a request. Undefined: send it again, because the credentials were renewed after a refusal. */
  async #send(
    url: string,
    init: { readonly method: string; readonly headers?: Record<string, string> },
    bodyOf?: (watch: TransferWatch, failed: (error: unknown) => void) => ReadableStream<Uint8Array>,
  ): Promise<Response | undefined> {
    const { agent, options, runtime } = this.#setup;
    const watch = new TransferWatch({ signal: options.signal, idleMs: options.idleMs, clock: runtime.clock });
    let failure: { readonly error: unknown } | undefined;
    const body = bodyOf?.(watch, (error) => {
      failure = { error };
    });
    try {
      const response = await agent.request(url, {
        method: init.method,
        redirect: 'manual',
        signal: watch.signal,
        headers: { ...init.headers, 'tus-resumable': TUS_VERSION },
        ...(body !== undefined && { body, duplex: 'half' }),
      } as RequestInit);
      if (response.ok) return response;
      if (response.status === 401 && !this.#hasRenewed) {
        this.#hasRenewed = true;
        response.body?.cancel().catch(() => {});
        return undefined;
      }
      const refusal = await refusalOf(response);
      if (this.#isEarlier && GONE.includes(response.status)) {
        this.#restart();
        return undefined;
      }
      if (!BROKEN_OFF.includes(response.status)) throw refusal;
      throw new A2AError('UNAVAILABLE', refusal.message, refusal.details, { cause: refusal });
    } catch (cause) {
      if (failure !== undefined) throw failure.error;
      watch.throwIfEnded();
      if (cause instanceof A2AError) throw cause;
      throw new ConnectionError(`${new URL(url).origin} took no file: ${reasonOf(cause)}`, { sent: true, cause });
    } finally {
      watch.end();
    }
  }

  #learn(response: Response): void {
    const text = response.headers.get('upload-offset') ?? '';
    const offset = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    response.body?.cancel().catch(() => {});
    if (!(offset <= this.#hashed))
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        'The agent tells no offset of the upload, or bytes that it never got',
      );
    this.#offset = offset;
  }

  #hash(chunk: Uint8Array, at: number): void {
    const known = this.#hashed - at;
    if (known >= chunk.length) return;
    this.#setup.hash.update(chunk.subarray(known));
    this.#hashed = at + chunk.length;
  }

  #check(file: UploadedFile): UploadedFile {
    const { content, hash, options } = this.#setup;
    const told = sha256Of(file.digest);
    if (file.size !== content.size || (told !== undefined && told !== hash.digest()))
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent has stored other bytes than those of the file');
    return { ...file, url: fileUrl(file.url, options.url) };
  }
}

function textAsBase64(text: string): string {
  return toBase64(new TextEncoder().encode(text.toWellFormed()));
}
