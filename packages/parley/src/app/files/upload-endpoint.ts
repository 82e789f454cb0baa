import type { ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';
import type { FileScope, StoredFile } from '../../files/file-store.js';
import { safeFilename } from '../../files/filename.js';
import { readMediaType } from '../../files/media-type-rules.js';
import { UploadOffsetError } from '../../files/upload-store.js';
import { TUS_VERSION } from '../../operations/files-extension.js';
import { fromBase64 } from '../../runtime/base64-bytes.js';
import { errorAnswer, jsonAnswer } from '../json-answer.js';
import { declaredDigest, fileDescription, numberIn } from './declared-file.js';
import { entityTag } from './file-headers.js';
import type { ResumableUploads } from './resumable-uploads.js';

const TUS = { 'tus-resumable': TUS_VERSION, 'cache-control': 'no-store' } as const;
const APPENDED_TYPE = 'application/offset+octet-stream';
/** The most characters of `Upload-Metadata` that are read. */
const MOST_METADATA = 4096;

const NO_UPLOAD = errorAnswer({ status: 404, message: 'There is no such upload. Begin a new one with POST' });
/** The answer to an upload whose bytes something else has read. */
export const READ_BEFORE = errorAnswer({
  status: 501,
  message: 'A body parser of this server reads the file before its endpoint. Mount the agent before the body parsers',
});
const NO_STORE = errorAnswer({
  status: 501,
  message: 'The store of this server takes no uploads in several requests. Send the file in one request',
});

/** The parts of the endpoint of files that uploads need. */
interface UploadEndpointOptions {
  /** Absent: the store takes no uploads in several requests. */
  readonly uploads: ResumableUploads | undefined;
  readonly urlOf: (request: ExchangeRequest, scope: FileScope, id: string) => string;
  /** The bytes of a request within the times of an upload. `undefined` if the host has none. */
  readonly arriving: (request: ExchangeRequest) => AsyncIterable<Uint8Array> | undefined;
  readonly head: (scope: FileScope, id: string) => Promise<StoredFile | undefined>;
}

/** An answer, and the facts about it for the audit. */
interface UploadAnswer {
  readonly answer: ExchangeResponse;
  readonly id?: string;
  /** Bytes that the request has added. */
  readonly bytes?: number;
}

/** True if a request begins an upload in several requests. */
export function isUploadRequest(request: ExchangeRequest): boolean {
  return request.header('upload-length') !== undefined || request.header('tus-resumable') !== undefined;
}

/** The headers by which a client finds out what the server takes, in the answer to OPTIONS. */
export function uploadOptions(maxBytes: number): Readonly<Record<string, string>> {
  return {
    'tus-resumable': TUS_VERSION,
    'tus-version': TUS_VERSION,
    'tus-extension': 'creation,expiration,termination',
    'tus-max-size': String(maxBytes),
  };
}

/**
 * Takes files in several requests, by the protocol of tus 1.0.0 with creation, expiration and termination. The file has
 * the url of its upload.
 */
export class UploadEndpoint {
  readonly #options: UploadEndpointOptions;

  constructor(options: UploadEndpointOptions) {
    this.#options = options;
  }

  /** Begins an upload. Resolves to its id too. */
  async begin(request: ExchangeRequest, scope: FileScope): Promise<UploadAnswer> {
    const { uploads, urlOf } = this.#options;
    const refusal = otherVersion(request);
    if (refusal !== undefined) return { answer: refusal };
    if (uploads === undefined) return { answer: NO_STORE };
    const size = numberIn(request, 'Upload-Length');
    if (size === undefined) throw new A2AError('INVALID_REQUEST', 'Upload-Length: must be the bytes of the whole file');
    if ((numberIn(request, 'Content-Length') ?? 0) > 0)
      throw new A2AError('INVALID_REQUEST', 'The request begins an upload. Send the bytes with PATCH to its Location');
    const declared = { ...metadataOf(request), size, digest: declaredDigest(request, 'Repr-Digest') };
    const upload = await uploads.begin(scope, declared);
    const { id, expiresAt } = upload;
    // No request with bytes follows.
    if (size === 0) await uploads.append(scope, { id, offset: 0, source: nothing() });
    const expires = { 'upload-expires': new Date(expiresAt).toUTCString() };
    const headers = { ...TUS, ...expires, 'upload-offset': '0', location: urlOf(request, scope, id) };
    return { answer: { status: 201, headers }, id };
  }

  /** The offset of an upload that is not whole; `undefined` if there is none. */
  async head(scope: FileScope, id: string): Promise<ExchangeResponse | undefined> {
    const upload = await this.#options.uploads?.find(scope, id);
    if (upload === undefined) return undefined;
    const expires = { 'upload-expires': new Date(upload.expiresAt).toUTCString() };
    return { status: 200, headers: { ...TUS, ...expires, ...place(upload.offset, upload.size) } };
  }

  /** Appends the bytes of a request. The answer to the last one describes the file. */
  async append(request: ExchangeRequest, scope: FileScope, id: string): Promise<UploadAnswer> {
    const { uploads, urlOf, arriving, head } = this.#options;
    const refusal = otherVersion(request);
    if (refusal !== undefined) return { answer: refusal };
    if (uploads === undefined) return { answer: NO_STORE };
    if (readMediaType(request.header('content-type')) !== APPENDED_TYPE)
      return { answer: errorAnswer({ status: 415, message: `Content-Type: must be ${APPENDED_TYPE}` }) };
    const offset = numberIn(request, 'Upload-Offset');
    if (offset === undefined)
      throw new A2AError('INVALID_REQUEST', 'Upload-Offset: must be the place of the first byte');
    // The answer to the last request may have been lost.
    const known = await head(scope, id);
    if (known !== undefined) {
      if (offset !== known.size) throw new UploadOffsetError(known.size);
      return { answer: whole(known, urlOf(request, scope, id)), bytes: 0 };
    }
    const source = arriving(request);
    if (source === undefined) return { answer: READ_BEFORE };
    const appended = await uploads.append(scope, { id, offset, source });
    if (appended === undefined) return { answer: NO_UPLOAD };
    const bytes = appended.offset - offset;
    if (appended.file !== undefined) return { answer: whole(appended.file, urlOf(request, scope, id)), bytes };
    return { answer: { status: 204, headers: { ...TUS, 'upload-offset': String(appended.offset) } }, bytes };
  }

  /** Removes an upload. */
  async remove(scope: FileScope, id: string): Promise<boolean> {
    return (await this.#options.uploads?.remove(scope, id)) ?? false;
  }
}

/** The offset and the size of an upload in headers. */
export function place(offset: number, size: number): Readonly<Record<string, string>> {
  return { 'upload-offset': String(offset), 'upload-length': String(size) };
}

function whole(file: StoredFile, url: string): ExchangeResponse {
  const headers = { ...TUS, ...place(file.size, file.size), etag: entityTag(file) };
  return jsonAnswer({ status: 200, value: fileDescription(file, url), headers });
}

function otherVersion(request: ExchangeRequest): ExchangeResponse | undefined {
  const version = request.header('tus-resumable');
  if (version === undefined || version === TUS_VERSION) return undefined;
  const headers = { 'tus-version': TUS_VERSION };
  return errorAnswer({ status: 412, message: `Tus-Resumable: must be ${TUS_VERSION}`, headers });
}

/** Name and type of the file. Values are in base64. */
function metadataOf(request: ExchangeRequest): { readonly filename?: string; readonly mediaType?: string } {
  const pairs = (request.header('upload-metadata') ?? '').slice(0, MOST_METADATA).split(',');
  const values = new Map(pairs.map((pair) => pair.trim().split(' ', 2)).map(([name, value]) => [name, textOf(value)]));
  const filename = safeFilename(values.get('filename'));
  const type = values.get('filetype');
  const mediaType = readMediaType(type);
  if (type !== undefined && type !== '' && mediaType === undefined)
    throw new A2AError('INVALID_REQUEST', 'Upload-Metadata: filetype must be a media type');
  return { ...(filename !== undefined && { filename }), ...(mediaType !== undefined && { mediaType }) };
}

function textOf(base64: string | undefined): string | undefined {
  if (base64 === undefined || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  return new TextDecoder().decode(fromBase64(base64));
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
