import { isFromOtherSite } from '../../auth/cross-site.js';
import { requireSkill } from '../../auth/requirements.js';
import { tellLimit } from '../../bindings/http/answer-call.js';
import type { BindingContext } from '../../bindings/http/binding-context.js';
import { ContentCodingError, codingHeaders, contentCoding, refusedCoding } from '../../bindings/http/content-coding.js';
import { httpStatus } from '../../bindings/http/error-numbers.js';
import type { Exchange, ExchangeRequest, ExchangeResponse, FileAccess } from '../../bindings/http/exchange.js';
import { errorDetails, retryHeaders, toA2AError } from '../../bindings/http/wire-error.js';
import type { DeclaredFile } from '../../files/arriving-file.js';
import { newDigester } from '../../files/digester.js';
import { fileTooLarge } from '../../files/file-errors.js';
import type { FileScope, StoredFile } from '../../files/file-store.js';
import { RefusedTypeError } from '../../files/media-type-rules.js';
import { SlowUploadError, timedChunks } from '../../files/timed-chunks.js';
import { UploadOffsetError } from '../../files/upload-store.js';
import type { AgentMount } from '../agent-mount.js';
import type { HostView } from '../host-extension.js';
import { errorAnswer, jsonAnswer } from '../json-answer.js';
import { otherMethod } from '../middleware/method-filter.js';
import { declaredFile, fileDescription } from './declared-file.js';
import { decideRange, digestField, entityTag, fileHeaders } from './file-headers.js';
import type { FileKeeper, GivenFile } from './file-keeper.js';
import { fileUrl, tenantIn } from './file-places.js';
import { NO_CHUNKS, takePlace, untilEnd } from './open-transfer.js';
import type { ResumableUploads } from './resumable-uploads.js';
import { isUploadRequest, place, READ_BEFORE, UploadEndpoint, uploadOptions } from './upload-endpoint.js';

/** The times of an upload, in ms. */
interface UploadTimes {
  /** The longest pause. */
  readonly idleMs: number;
  /** The longest time in all. */
  readonly totalMs: number;
}

/** The endpoint of one agent. */
export interface FileEndpointOptions {
  readonly host: HostView;
  readonly mount: AgentMount;
  readonly keeper: FileKeeper;
  /** Absent: the store takes no uploads in several requests. */
  readonly uploads: ResumableUploads | undefined;
  readonly times: UploadTimes;
}

const NO_FILE = errorAnswer({ status: 404, message: 'There is no such file' });
const FOREIGN_PAGE = errorAnswer({
  status: 403,
  message: 'Pages of this origin may not send files. The option cors allows it',
});
const OPERATIONS: Readonly<Record<string, FileAccess['operation']>> = {
  POST: 'uploadFile',
  PATCH: 'appendToUpload',
  DELETE: 'deleteFile',
};

/** A request for files, and the facts about it for the audit. */
interface Visit {
  readonly request: ExchangeRequest;
  readonly access: FileAccess;
}

/** Takes files at its path, and gives them out below it. */
export class FileEndpoint {
  readonly #options: FileEndpointOptions;
  readonly #uploads: UploadEndpoint;

  constructor(options: FileEndpointOptions) {
    this.#options = options;
    const { keeper, uploads } = options;
    this.#uploads = new UploadEndpoint({
      uploads,
      head: (scope, id) => keeper.store.head(scope, id),
      urlOf: (request, scope, id) => this.#urlOf(request, scope, id),
      arriving: (request) => this.#arriving(request),
    });
  }

  readonly exchange: Exchange = async (request) => {
    const { mount } = this.#options;
    const id = request.path === mount.paths.files ? undefined : request.path.slice(-32);
    const access: FileAccess = { operation: OPERATIONS[request.method] ?? 'readFile', agent: mount.agent.id };
    if (id !== undefined) access.fileId = id;
    const visit = { request, access };
    const answer = await (id === undefined ? this.#collection(visit) : this.#item(visit, id)).catch((thrown) =>
      this.#refused(thrown, request),
    );
    return request.method === 'OPTIONS' ? answer : { ...answer, file: access };
  };

  #refused(thrown: unknown, request: ExchangeRequest): ExchangeResponse {
    if (thrown instanceof RefusedTypeError) return errorAnswer({ status: 415, message: thrown.message });
    if (thrown instanceof UploadOffsetError) {
      const headers = { 'upload-offset': String(thrown.offset) };
      return errorAnswer({ status: 409, message: thrown.message, headers });
    }
    const about = { operation: 'files', requestId: request.requestId };
    const error = toA2AError(thrown, this.#options.host.logger, about);
    tellLimit(error, this.#context(request), request);
    return errorAnswer({
      status: thrown instanceof SlowUploadError ? 408 : httpStatus(error),
      message: error.message,
      details: errorDetails(error, error.code),
      headers: { ...retryHeaders(error), ...codingHeaders(error) },
    });
  }

  async #collection({ request, access }: Visit): Promise<ExchangeResponse> {
    const { keeper, uploads } = this.#options;
    if (request.method !== 'POST') {
      const answer = otherMethod(request.method, { methods: ['POST'], message: 'Files are sent here with POST' });
      const more = uploads === undefined || request.method !== 'OPTIONS' ? {} : uploadOptions(keeper.rules.maxBytes);
      return { ...answer, headers: { ...answer.headers, ...more } };
    }
    const scope = await this.#writingScope(request);
    if ('status' in scope) return scope;
    access.tenant = scope.tenant;
    if (isUploadRequest(request)) {
      access.operation = 'beginUpload';
      const { answer, id } = await this.#uploads.begin(request, scope);
      if (id !== undefined) access.fileId = id;
      return answer;
    }
    const isGzip = await takesGzip(request);
    const declared = declaredFile(request);
    if (declared.size !== undefined && declared.size > keeper.rules.maxBytes) {
      throw fileTooLarge(keeper.rules.maxBytes);
    }
    const arriving = this.#arriving(request);
    if (arriving === undefined) return READ_BEFORE;
    return this.#placed(request, async () => {
      const given = isGzip
        ? await gunzipBody(declared, arriving, keeper.rules.maxBytes)
        : { declared, source: arriving };
      const file = await keeper.keep(scope, given);
      access.fileId = file.id;
      access.bytes = file.size;
      const url = this.#urlOf(request, scope, file.id);
      const headers = { location: url, etag: entityTag(file), 'x-content-type-options': 'nosniff' };
      return jsonAnswer({ status: 201, value: fileDescription(file, url), headers });
    });
  }

  async #item(visit: Visit, id: string): Promise<ExchangeResponse> {
    const { request, access } = visit;
    const { keeper, uploads } = this.#options;
    const { store } = keeper;
    const methods = ['GET', 'HEAD', 'DELETE', ...(uploads === undefined ? [] : ['PATCH'])];
    if (!methods.includes(request.method)) {
      return otherMethod(request.method, { methods, message: 'Files do not change' });
    }
    if (request.method === 'PATCH') {
      // An offset counts decoded bytes, so a part in gzip could not go on.
      const refused = refusedCoding(request);
      if (refused !== undefined) throw refused;
      const scope = await this.#writingScope(request);
      if ('status' in scope) return scope;
      access.tenant = scope.tenant;
      return this.#placed(request, async () => {
        const { answer, bytes } = await this.#uploads.append(request, scope, id);
        if (bytes !== undefined) access.bytes = bytes;
        return answer;
      });
    }
    const scope = await this.#scope(request);
    if (scope === undefined) return NO_FILE;
    access.tenant = scope.tenant;
    if (request.method === 'DELETE') {
      if (!(await this.#isOwnPage(request))) return FOREIGN_PAGE;
      const isDeleted = (await store.delete(scope, id)) || (await this.#uploads.remove(scope, id));
      return isDeleted ? { status: 204, headers: {} } : NO_FILE;
    }
    const file = await store.head(scope, id);
    if (file !== undefined) return this.#answer(visit, scope, file);
    return (request.method === 'HEAD' ? await this.#uploads.head(scope, id) : undefined) ?? NO_FILE;
  }

  async #answer(visit: Visit, scope: FileScope, file: StoredFile): Promise<ExchangeResponse> {
    const { request } = visit;
    const isOfUploads = request.method === 'HEAD' && request.header('tus-resumable') !== undefined;
    const headers = { ...fileHeaders(file), ...(isOfUploads && place(file.size, file.size)) };
    const decision = decideRange((name) => request.header(name), file);
    const { size } = file;
    switch (decision.kind) {
      case 'unchanged':
        return { status: 304, headers: { etag: entityTag(file), 'cache-control': 'private, no-cache' } };
      case 'changed':
        return errorAnswer({ status: 412, message: 'The file has another entity tag' });
      case 'outside': {
        const found = { 'content-range': `bytes */${size}` };
        return errorAnswer({ status: 416, message: `The file has ${size} bytes`, headers: found });
      }
      case 'whole':
        return this.#opened(visit, scope, {
          status: 200,
          file,
          headers: { ...headers, 'content-digest': digestField(file) },
        });
      case 'part': {
        const { start, end } = decision.range;
        const found = { ...headers, 'content-range': `bytes ${start}-${end - 1}/${size}` };
        return this.#opened(visit, scope, { status: 206, file, headers: found, range: decision.range });
      }
    }
  }

  async #opened({ request, access }: Visit, scope: FileScope, found: FoundFile): Promise<ExchangeResponse> {
    const { status, headers, file, range = { start: 0, end: file.size } } = found;
    const length = range.end - range.start;
    const nothing = { length, chunks: NO_CHUNKS };
    if (request.method === 'HEAD') return { status, headers, bytes: nothing };
    access.bytes = length;
    const leave = takePlace(this.#context(request), request);
    try {
      const opened = await this.#options.keeper.store.read(scope, file.id, range);
      if (opened === undefined) {
        leave();
        return NO_FILE;
      }
      const chunks = untilEnd(opened.chunks, request.onCredentialEnd, leave);
      return { status, headers, bytes: { length, chunks } };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #urlOf(request: ExchangeRequest, { tenant }: FileScope, id: string): string {
    const { host, mount } = this.#options;
    return fileUrl(host.baseUrl(request), mount, { id, tenant });
  }

  /** The bytes of a request, under the timeouts of an upload. `undefined`: the body was read already. */
  #arriving(request: ExchangeRequest): AsyncIterable<Uint8Array> | undefined {
    const { host, times } = this.#options;
    if (request.chunks === undefined) return undefined;
    return timedChunks(request.chunks(), { ...times, clock: host.clock, onEnd: request.onCredentialEnd });
  }

  /** Answers with a place among the open streams of the caller. */
  async #placed(request: ExchangeRequest, answer: () => Promise<ExchangeResponse>): Promise<ExchangeResponse> {
    const leave = takePlace(this.#context(request), request);
    try {
      return await answer();
    } finally {
      leave();
    }
  }

  /** The scope of a caller who may send files here, or the refusal. */
  async #writingScope(request: ExchangeRequest): Promise<FileScope | ExchangeResponse> {
    if (!(await this.#isOwnPage(request))) return FOREIGN_PAGE;
    const scope = await this.#scope(request);
    if (scope === undefined) return errorAnswer({ status: 400, message: 'tenant is not a tenant of the caller' });
    const { skillRequirements } = this.#context(request);
    if (skillRequirements !== undefined) requireSkill(request.user, skillRequirements);
    return scope;
  }

  /** The scope of the caller; `undefined` for a tenant that is not granted. */
  async #scope(request: ExchangeRequest): Promise<FileScope | undefined> {
    const { agent } = this.#options.mount;
    const tenant = tenantIn(request.query);
    if (tenant.length > this.#context(request).limits.idLength) return undefined;
    if (!(await agent.grantsTenant(request.user, tenant))) return undefined;
    return { agent: agent.id, tenant, owner: request.user?.id ?? null };
  }

  #context(request: ExchangeRequest): BindingContext {
    const { host, mount } = this.#options;
    return mount.bindingContext(host.baseUrl(request));
  }

  /** Browsers send files to other origins without asking them: the rule of CORS decides about such pages. */
  async #isOwnPage(request: ExchangeRequest): Promise<boolean> {
    const origin = request.header('origin');
    if (origin === undefined || isFromOtherSite((name) => request.header(name)) === false) return true;
    const { host } = this.#options;
    return origin === URL.parse(host.baseUrl(request))?.origin || host.allowsOrigin(origin);
  }
}

/**
 * True for a body in gzip, and false for one as it is.
 * @throws ContentCodingError for any other coding.
 */
async function takesGzip(request: ExchangeRequest): Promise<boolean> {
  const coding = contentCoding(request);
  if (coding === '') return false;
  const { decodesGzip } = await import('../../files/gunzipped-chunks.js');
  if (!decodesGzip()) throw new ContentCodingError('the file must not be compressed', 'identity');
  if (coding !== 'gzip') throw new ContentCodingError('the file must be in gzip or as it is', 'gzip, identity');
  return true;
}

/** The file of a body in gzip. Length and digest in its headers are those of the body. */
async function gunzipBody(
  { size: _, digest, ...declared }: DeclaredFile,
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<GivenFile> {
  const { gunzippedChunks } = await import('../../files/gunzipped-chunks.js');
  return { declared, source: gunzippedChunks({ source, maxBytes, digest, digester: await newDigester() }) };
}

/** A file, and the head of the answer with it. */
interface FoundFile {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly file: StoredFile;
  readonly range?: { readonly start: number; readonly end: number };
}
