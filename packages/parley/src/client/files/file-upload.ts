import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { newDigester } from '../../files/digester.js';
import { checkAgent } from './check-agent.js';
import { type FileAgent, type FileProgress, type FileRuntime, fileEndpoint, fileUrl, isOwnUrl } from './file-agent.js';
import { refusalOf, sha256Of, type UploadedFile, uploadedFile } from './file-answers.js';
import { reasonOf } from './file-requests.js';
import { RESUMED_BYTES, resumedUpload } from './resumed-upload.js';
import { canSendStreams, observeStream } from './sent-stream.js';
import { TransferWatch } from './transfer-watch.js';

/** The content of an upload. A stream is read once; a `Blob` may stand for a file on disk. */
export type UploadSource = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** Options of `uploadFile`. */
export interface UploadOptions {
  /** Name of the file for its readers. Default: that of a `File`. */
  readonly filename?: string;
  /** Default: that of a `Blob`, or `application/octet-stream`. */
  readonly mediaType?: string;
  /** Bytes of a stream, if they are known. */
  readonly size?: number;
  /** Default: the tenant of the interface. Without tenants: none. */
  readonly tenant?: string;
  readonly signal?: AbortSignal;
  /** Called after each chunk. An error that it throws ends the upload. */
  readonly onProgress?: (progress: FileProgress) => void;
  /** Longest time without progress, and for the answer at the end, in ms. Default: 60 s. */
  readonly idleMs?: number;
  /**
   * Further attempts in a row that may bring no byte before the upload fails, if the agent takes uploads in several
   * requests. Default: 5.
   */
  readonly attempts?: number;
  /**
   * Called with the url of an upload in several requests, for `from` in a later process. Only large files have one, if
   * the agent takes such uploads and the content is no stream.
   */
  readonly onBegin?: (url: string) => void;
  /** The url of an upload of the same content that an earlier process has begun. If it is gone, a new one begins. */
  readonly from?: string;
}

const IDLE_MS = 60_000;

/**
 * Uploads a file to the place that the card of an agent declares. To send the file, put the returned url into a part of
 * a message. Checks the size and digest that the agent answers with. A large file goes on after a cut connection, if
 * the agent takes uploads in several requests and the content is no stream.
 * @throws A2AError UNSUPPORTED_OPERATION if the card declares no place for files.
 * @throws A2AError if the agent refuses the file, ConnectionError if the connection fails, or the reason of the signal.
 */
export async function uploadFile(
  agent: FileAgent,
  source: UploadSource,
  options: UploadOptions,
  runtime: FileRuntime,
): Promise<UploadedFile> {
  checkAgent('uploadFile', agent);
  const { clock } = runtime;
  const endpoint = fileEndpoint(agent.card);
  if (endpoint === undefined)
    throw new A2AError('UNSUPPORTED_OPERATION', 'The card of the agent declares no place for files');
  const size = sizeOf(source, options);
  const { maxBytes } = endpoint;
  const url = withTenant(endpoint.url, options.tenant ?? agent.agentInterface.tenant);
  if (size !== undefined && maxBytes !== undefined && size > maxBytes)
    throw new A2AError('PAYLOAD_TOO_LARGE', `The agent takes files of up to ${maxBytes} bytes, and this has ${size}`);
  const { signal, idleMs = IDLE_MS } = options;
  if (
    endpoint.isResumable &&
    !(source instanceof ReadableStream) &&
    Number(size) >= RESUMED_BYTES &&
    canSendStreams()
  ) {
    const { attempts, onProgress, onBegin } = options;
    // `from` may come from a file that other users can write.
    const from = options.from !== undefined && isOwnUrl(agent, options.from) ? options.from : undefined;
    const about = { url, ...aboutOf(source, options), attempts, signal, idleMs };
    return resumedUpload(agent, source, { ...about, onProgress, onBegin, from }, runtime);
  }
  for (let isFirst = true; ; isFirst = false) {
    const watch = new TransferWatch({ signal, idleMs, clock });
    try {
      const content = await sentContent(source, { options, size, watch });
      const response = await answerTo(agent, { url, content, headers: headersOf(source, { options, size }), watch });
      // The credentials may have been renewed meanwhile; a stream cannot be sent again.
      if (response.status === 401 && isFirst && !(source instanceof ReadableStream)) {
        response.body?.cancel().catch(() => {});
        continue;
      }
      if (response.status !== 200 && response.status !== 201) throw await refusalOf(response);
      const file = await uploadedFile(response);
      content.check(file);
      return { ...file, url: fileUrl(file.url, url) };
    } finally {
      watch.end();
    }
  }
}

interface SentUpload {
  readonly url: string;
  readonly content: Content;
  readonly headers: Record<string, string>;
  readonly watch: TransferWatch;
}

async function answerTo(agent: FileAgent, { url, content, headers, watch }: SentUpload): Promise<Response> {
  const { body, digest } = content;
  const init: RequestInit & { readonly duplex?: 'half' } = {
    method: 'POST',
    redirect: 'manual',
    signal: watch.signal,
    headers: { ...headers, ...(digest !== undefined && { 'content-digest': `sha-256=:${digest}:` }) },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  };
  try {
    return await agent.request(url, init);
  } catch (cause) {
    watch.throwIfEnded();
    if (content.failure !== undefined) throw content.failure.error;
    if (cause instanceof A2AError) throw cause;
    throw new ConnectionError(`${new URL(url).origin} took no file: ${reasonOf(cause)}`, { sent: true, cause });
  }
}

/** A body, and the facts known about it. */
interface Content {
  readonly body: ReadableStream<Uint8Array> | Blob;
  /** SHA-256 in base64 that is known before the body is sent. */
  readonly digest?: string;
  /** The failure of the source. */
  readonly failure?: { readonly error: unknown } | undefined;
  /** @throws A2AError INVALID_AGENT_RESPONSE if the agent has got other bytes. */
  check(file: UploadedFile): void;
}

interface ContentOptions {
  readonly options: UploadOptions;
  readonly size: number | undefined;
  readonly watch: TransferWatch;
}

/**
 * Sends the content. Hosts without streaming requests, such as browsers, read a `Blob` once for its digest and then
 * send it whole.
 */
async function sentContent(source: UploadSource, { options, size, watch }: ContentOptions): Promise<Content> {
  const { onProgress } = options;
  const hash = await newDigester();
  let bytes = 0;
  let digest: string | undefined;
  let failure: { readonly error: unknown } | undefined;
  const take = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (size !== undefined && bytes > size) throw new RangeError(`The file is longer than its ${size} bytes`);
    hash.update(chunk);
    watch.moved();
  };
  const check = (file: UploadedFile): void => {
    digest ??= hash.digest();
    const told = sha256Of(file.digest);
    if (file.size !== bytes || (told !== undefined && told !== digest))
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent has stored other bytes than those of the file');
  };
  const blob = source instanceof ReadableStream ? undefined : source instanceof Blob ? source : new Blob([source]);
  const stream = blob === undefined ? (source as ReadableStream<Uint8Array>) : blob.stream();
  if (canSendStreams()) {
    const body = observeStream(stream, {
      take: (chunk) => {
        take(chunk);
        onProgress?.({ bytes, total: size });
      },
      failed: (error) => {
        failure = { error };
      },
    });
    return {
      body,
      get failure() {
        return failure;
      },
      check,
    };
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunksOf(stream)) {
    take(chunk);
    if (blob === undefined) chunks.push(chunk as Uint8Array<ArrayBuffer>);
  }
  digest = hash.digest();
  return {
    body: blob ?? new Blob(chunks),
    digest,
    check: (file) => {
      check(file);
      onProgress?.({ bytes, total: bytes });
    },
  };
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function withTenant(url: string, tenant: string | undefined): string {
  if (tenant === undefined || tenant === '') return url;
  const target = new URL(url);
  target.searchParams.set('tenant', tenant);
  return target.href;
}

function sizeOf(source: UploadSource, { size }: UploadOptions): number | undefined {
  if (source instanceof ReadableStream) return size;
  return source instanceof Blob ? source.size : source.length;
}

/** Default file name and media type of a source. */
function aboutOf(source: UploadSource, options: UploadOptions) {
  const isFile = typeof File === 'function' && source instanceof File;
  const { filename = isFile ? source.name : undefined, mediaType } = options;
  const type = mediaType ?? (source instanceof Blob && source.type !== '' ? source.type : 'application/octet-stream');
  return { filename, mediaType: type };
}

function headersOf(
  source: UploadSource,
  { options, size }: Pick<ContentOptions, 'options' | 'size'>,
): Record<string, string> {
  const { filename, mediaType } = aboutOf(source, options);
  return {
    'content-type': mediaType,
    ...(size !== undefined && { 'content-length': String(size) }),
    ...(filename !== undefined && { 'content-disposition': `attachment; filename*=UTF-8''${encodedName(filename)}` }),
  };
}

/** Encodes a name for a header (RFC 8187 §3.2). */
function encodedName(name: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(name.toWellFormed()).replaceAll(/[!'()*]/g, percent);
}
