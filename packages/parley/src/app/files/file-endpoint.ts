import { isFromOtherSite } from '../../auth/cross-site.js';
import { requireSkill } from '../../auth/requirements.js';
import { callerKeyOf } from '../../auth/user.js';
import type { BindingContext } from '../../bindings/http/binding-context.js';
import { httpStatus } from '../../bindings/http/error-numbers.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { retryHeaders, toA2AError } from '../../bindings/http/wire-error.js';
import { A2AError } from '../../errors/a2a-error.js';
import type { FileScope, StoredFile } from '../../files/file-store.js';
import { RefusedTypeError, readMediaType } from '../../files/media-type-rules.js';
import { SlowUploadError, timedChunks } from '../../files/timed-chunks.js';
import type { AgentMount } from '../agent-mount.js';
import type { HostView } from '../host-extension.js';
import { errorAnswer, jsonAnswer } from '../json-answer.js';
import { otherMethod } from '../middleware/method-filter.js';
import { decideRange, digestField, entityTag, fileHeaders, readDigest, readFilename } from './file-headers.js';
import type { FileKeeper } from './file-keeper.js';
import { fileUrl, tenantIn } from './file-places.js';

/** The times of an upload, in ms. */
export interface UploadTimes {
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
  readonly times: UploadTimes;
}

const NO_FILE = errorAnswer({ status: 404, message: 'There is no such file' });
const FOREIGN_PAGE = errorAnswer({
  status: 403,
  message: 'Pages of this origin may not send files. The option cors allows it',
});
const NO_STREAM = errorAnswer({ status: 501, message: 'This host cannot take files' });
const BUSY_RETRY_MS = 5_000;

/** Takes files at its path, and gives them out below it. */
export class FileEndpoint {
  readonly #options: FileEndpointOptions;

  constructor(options: FileEndpointOptions) {
    this.#options = options;
  }

  readonly exchange: Exchange = async (request) => {
    const { host, mount } = this.#options;
    try {
      const id = request.path === mount.paths.files ? undefined : request.path.slice(-32);
      return await (id === undefined ? this.#collection(request) : this.#item(request, id));
    } catch (thrown) {
      if (thrown instanceof SlowUploadError) return errorAnswer({ status: 408, message: thrown.message });
      if (thrown instanceof RefusedTypeError) return errorAnswer({ status: 415, message: thrown.message });
      const error = toA2AError(thrown, host.logger, { operation: 'files', requestId: request.requestId });
      return errorAnswer({ status: httpStatus(error.code), message: error.message, headers: retryHeaders(error) });
    }
  };

  async #collection(request: ExchangeRequest): Promise<ExchangeResponse> {
    if (request.method !== 'POST') {
      return otherMethod(request.method, { methods: ['POST'], message: 'Files are sent here with POST' });
    }
    const { host, mount, keeper, times } = this.#options;
    if (!(await this.#isOwnPage(request))) return FOREIGN_PAGE;
    const scope = await this.#scope(request);
    if (scope === undefined) return errorAnswer({ status: 400, message: 'tenant is not a tenant of the caller' });
    const context = this.#context(request);
    if (context.skillRequirements !== undefined) requireSkill(request.user, context.skillRequirements);
    const declared = {
      filename: readFilename(request.header('content-disposition')),
      mediaType: mediaTypeOf(request),
      size: sizeOf(request),
      digest: digestOf(request),
    };
    if (declared.size !== undefined && declared.size > keeper.rules.maxBytes) {
      throw new A2AError('PAYLOAD_TOO_LARGE', `The file is larger than ${keeper.rules.maxBytes} bytes`);
    }
    if (request.chunks === undefined) return NO_STREAM;
    const leave = take(context, request);
    try {
      const source = timedChunks(request.chunks(), { ...times, clock: host.clock, onEnd: request.onCredentialEnd });
      const file = await keeper.keep(scope, { declared, source });
      const url = fileUrl(host.baseUrl(request), mount, { id: file.id, tenant: scope.tenant });
      const headers = { location: url, etag: entityTag(file), 'x-content-type-options': 'nosniff' };
      return jsonAnswer({ status: 201, value: description(file, url), headers });
    } finally {
      leave();
    }
  }

  async #item(request: ExchangeRequest, id: string): Promise<ExchangeResponse> {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD' && method !== 'DELETE') {
      return otherMethod(method, { methods: ['GET', 'HEAD', 'DELETE'], message: 'Files do not change' });
    }
    const scope = await this.#scope(request);
    if (scope === undefined) return NO_FILE;
    const { store } = this.#options.keeper;
    if (method === 'DELETE') {
      if (!(await this.#isOwnPage(request))) return FOREIGN_PAGE;
      return (await store.delete(scope, id)) ? { status: 204, headers: {} } : NO_FILE;
    }
    const file = await store.head(scope, id);
    return file === undefined ? NO_FILE : this.#answer(request, scope, file);
  }

  async #answer(request: ExchangeRequest, scope: FileScope, file: StoredFile): Promise<ExchangeResponse> {
    const headers = fileHeaders(file);
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
        return this.#opened(request, scope, {
          status: 200,
          file,
          headers: { ...headers, 'content-digest': digestField(file) },
        });
      case 'part': {
        const { start, end } = decision.range;
        const found = { ...headers, 'content-range': `bytes ${start}-${end - 1}/${size}` };
        return this.#opened(request, scope, { status: 206, file, headers: found, range: decision.range });
      }
    }
  }

  async #opened(request: ExchangeRequest, scope: FileScope, found: FoundFile): Promise<ExchangeResponse> {
    const { status, headers, file, range = { start: 0, end: file.size } } = found;
    const length = range.end - range.start;
    const nothing = { length, chunks: NO_CHUNKS };
    if (request.method === 'HEAD') return { status, headers, bytes: nothing };
    const leave = take(this.#context(request), request);
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

/** A file, and the head of the answer with it. */
interface FoundFile {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly file: StoredFile;
  readonly range?: { readonly start: number; readonly end: number };
}

const NO_CHUNKS: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** Takes a place among the open streams of the caller. Returns the function that gives it back, once. */
function take({ streamPlaces, addressOf }: BindingContext, request: ExchangeRequest): () => void {
  const caller = callerKeyOf(request.user?.id) ?? addressOf?.(request);
  if (streamPlaces?.take(caller) !== undefined) {
    const details = { metadata: { limit: 'streams' }, retryAfterMs: BUSY_RETRY_MS };
    throw new A2AError('RESOURCE_EXHAUSTED', 'Too many files and streams are open. Try again later', details);
  }
  let isTaken = true;
  return () => {
    if (isTaken) streamPlaces?.give(caller);
    isTaken = false;
  };
}

/** The chunks until the credential of their reader ends. `done` is called once. */
function untilEnd(
  chunks: AsyncIterable<Uint8Array>,
  onEnd: ExchangeRequest['onCredentialEnd'],
  done: () => void,
): AsyncIterable<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let hasEnded = false;
  const stop = onEnd?.(() => {
    hasEnded = true;
  });
  const finish = () => {
    stop?.();
    done();
  };
  const reader: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => reader,
    async next() {
      try {
        if (hasEnded) throw new A2AError('UNAUTHENTICATED', 'The credential has ended');
        const next = await iterator.next();
        if (next.done === true) finish();
        return next;
      } catch (error) {
        finish();
        throw error;
      }
    },
    async return() {
      finish();
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  return reader;
}

function description(file: StoredFile, url: string) {
  const { id, filename, mediaType, size, createdAt, expiresAt } = file;
  return {
    id,
    url,
    ...(filename !== undefined && { filename }),
    mediaType,
    size,
    digest: digestField(file),
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}

function mediaTypeOf(request: ExchangeRequest): string | undefined {
  const text = request.header('content-type');
  if (text === undefined || text.trim() === '') return undefined;
  const type = readMediaType(text);
  if (type === undefined) throw new A2AError('INVALID_REQUEST', 'Content-Type: must be a media type');
  return type;
}

function sizeOf(request: ExchangeRequest): number | undefined {
  const text = request.header('content-length');
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new A2AError('INVALID_REQUEST', 'Content-Length: must be a number of bytes');
  return Number(text);
}

function digestOf(request: ExchangeRequest): string | undefined {
  const text = request.header('content-digest') ?? request.header('repr-digest');
  if (text === undefined) return undefined;
  const digest = readDigest(text);
  if (digest === undefined)
    throw new A2AError('INVALID_REQUEST', 'Content-Digest: must have the form sha-256=:base64:');
  return digest;
}
