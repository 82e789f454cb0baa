import type { WireCodec } from '../../codec/wire-codec.js';
import { A2AError } from '../../errors/a2a-error.js';
import { ContentTypeNotSupportedError, VersionNotSupportedError } from '../../errors/spec-errors.js';
import { isStreaming, type OperationName } from '../../operations/operations.js';
import { chooseVersion } from '../../operations/versions.js';
import {
  type AnswerForm,
  answerCall,
  failureHeaders,
  failureOf,
  prepareCall,
  type RefusedRequest,
  refusalHeaders,
} from '../http/answer-call.js';
import type { BindingContext } from '../http/binding-context.js';
import { beginRecord } from '../http/call-record.js';
import { hasHabit } from '../http/client-habits.js';
import { ContentCodingError } from '../http/content-coding.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../http/exchange.js';
import { parseJson, readText } from '../http/json-body.js';
import { EVENT_STREAM_TYPE, essence, JSON_TYPE, names } from '../http/media-type.js';
import { laterCodecs, type Offer, offerOf } from '../http/offer.js';
import { EVENT_STREAM_HEADERS, eventFrame } from '../http/sse-stream.js';
import { errorResponse } from './errors.js';
import { type JsonRpcDialect, SPECIFIED } from './jsonrpc-dialect.js';
import { idOf, readRequest } from './jsonrpc-request.js';

const JSON_HEADERS: Readonly<Record<string, string>> = Object.freeze({ 'content-type': JSON_TYPE });

/** The JSON-RPC binding of an agent (Spec §9): every POST on the bare interface url, unless a dialect differs. */
export function jsonRpcBinding(
  endpoint: BindingContext,
  codecs: readonly WireCodec[],
  dialect: JsonRpcDialect = SPECIFIED,
): Exchange {
  const offer = offerOf(endpoint, 'JSONRPC', codecs);
  return JsonRpcCall.answering({ endpoint, codecs, dialect, offer });
}

/**
 * The answer to a request that the gate of its host refuses. Its body is not read, so its id is unknown. The refusal is
 * one of HTTP, before JSON-RPC has a call: a credential that cannot be checked now is 503.
 */
export function refusedJsonRpc(
  { request, error, challenges }: RefusedRequest,
  dialect: Pick<JsonRpcDialect, 'httpStatus' | 'errorData'> = SPECIFIED,
): ExchangeResponse {
  const call = beginRecord('JSONRPC');
  call.code = error.code;
  const isObject = readsObjectData(request, undefined);
  const body = errorResponse('null', error, { data: dialect.errorData?.(error, undefined), isObject });
  return {
    status: error.code === 'UNAVAILABLE' ? 503 : dialect.httpStatus(error.code),
    headers: { ...JSON_HEADERS, ...refusalHeaders(error, challenges) },
    body,
    call,
  };
}

interface JsonRpcBindingOptions {
  readonly endpoint: BindingContext;
  readonly codecs: readonly WireCodec[];
  readonly dialect: JsonRpcDialect;
  readonly offer: Offer;
}

interface JsonRpcCallOptions extends JsonRpcBindingOptions {
  readonly request: ExchangeRequest;
}

/** One call, and the form of its answers. */
class JsonRpcCall implements AnswerForm {
  readonly headers = JSON_HEADERS;
  readonly #options: JsonRpcCallOptions;
  readonly #record = beginRecord('JSONRPC');
  /** As JSON. */
  #id = 'null';
  #method = '';
  /** The codec of the call, once it is known. */
  #codec: WireCodec | undefined;

  constructor(options: JsonRpcCallOptions) {
    this.#options = options;
  }

  /** The exchange of a binding. It checks HTTP, JSON, envelope, version, method and call, in this order. */
  static answering(options: JsonRpcBindingOptions): Exchange {
    const { endpoint, offer, dialect } = options;
    const { limits } = endpoint;
    return async (request) => {
      const rpc = new JsonRpcCall({ ...options, request });
      const record = rpc.#record;
      try {
        if (request.method !== 'POST') throw new A2AError('METHOD_NOT_ALLOWED', 'The method must be POST');
        if (essence(request.header('content-type')) !== JSON_TYPE) {
          throw new ContentTypeNotSupportedError(`the Content-Type must be ${JSON_TYPE}`);
        }
        const text = await readText(request, endpoint);
        const body = parseJson(text, limits);
        rpc.#id = idOf(body, text, limits);
        const { method, params: value, isNotification } = readRequest(body);
        rpc.#method = method;
        const named = dialect.askedVersion(request);
        const asked = chooseVersion(named, offer.codecs, endpoint.versionWhenAbsent);
        let codec = asked;
        let operation = asked.methods.get(method);
        if (operation === undefined) {
          const elsewhere = findElsewhere(method, { asked, offer, assumed: !named?.trim() });
          if (elsewhere === undefined) throw new A2AError('METHOD_NOT_FOUND', dialect.methodNotFound(method));
          ({ codec, operation } = elsewhere);
        }
        rpc.#codec = codec;
        const call = prepareCall({ endpoint, offer, codec, operation, value, form: 'json', request, record });
        // Checked last, so that other errors are reported first.
        if (isNotification) {
          throw new A2AError('INVALID_REQUEST', 'Notifications are not supported: id is missing');
        }
        return await answerCall(call, rpc);
      } catch (thrown) {
        return rpc.#failure(failureOf(thrown, { endpoint, request, record, operation: rpc.#method }));
      }
    };
  }

  wrap(json: string): string {
    return `{"jsonrpc":"2.0","id":${this.#id},"result":${json}}`;
  }

  errorFrame(error: A2AError): string {
    return eventFrame(this.#errorBody(error));
  }

  #errorBody(error: A2AError): string {
    const { dialect, request } = this.#options;
    return errorResponse(this.#id, error, {
      codec: this.#codec,
      data: dialect.errorData?.(error, this.#record.taskId),
      isObject: readsObjectData(request, this.#codec),
    });
  }

  #failure(error: A2AError): ExchangeResponse {
    const { endpoint, dialect, request } = this.#options;
    const status = error instanceof ContentCodingError ? 415 : dialect.httpStatus(error.code);
    const headers = failureHeaders(error, endpoint, 'POST');
    const call = this.#record;
    if (status === 200 && this.#streams && readsOnlyStreams(request, this.#codec)) {
      return { status, headers: { ...EVENT_STREAM_HEADERS, ...headers }, body: this.errorFrame(error), call };
    }
    return { status, headers: { ...JSON_HEADERS, ...headers }, body: this.#errorBody(error), call };
  }

  /** True if the method streams in any version of the agent. */
  get #streams(): boolean {
    return this.#options.codecs.some(({ methods }) => {
      const operation = methods.get(this.#method);
      return operation !== undefined && isStreaming(operation);
    });
  }
}

/**
 * True if this client needs an error before the first event as an event stream with one error frame. The default is a
 * plain JSON answer. The official JavaScript client makes typed errors of nothing else, and the official compatibility
 * kit refuses an event stream. The official clients of versions before 1.0 show no plain answer. They ask for an event
 * stream in `Accept`.
 */
function readsOnlyStreams(request: ExchangeRequest, codec: WireCodec | undefined): boolean {
  if (hasHabit(request, 'errors as events')) return true;
  return codec?.framesErrors === true && names(request.header('accept'), EVENT_STREAM_TYPE);
}

/** True if this client needs the `data` of an error as an object that holds the details. */
function readsObjectData(request: ExchangeRequest, codec: WireCodec | undefined): boolean {
  return codec?.framesErrors === true && hasHabit(request, 'error data as object');
}

/** The version of a call. */
interface AskedVersion {
  readonly asked: WireCodec;
  readonly offer: Offer;
  /** True if the request names no version. */
  readonly assumed: boolean;
}

/**
 * The operation of a method that the requested version lacks, in a later version that answers, too.
 * @throws VersionNotSupportedError if another offered version has the method.
 */
function findElsewhere(
  method: string,
  { asked, offer, assumed }: AskedVersion,
): { codec: WireCodec; operation: OperationName } | undefined {
  for (const codec of laterCodecs(offer, asked)) {
    const later = codec.methods.get(method);
    if (later !== undefined) return { codec, operation: later };
  }
  const others = [...offer.codecs.values()].filter(({ methods }) => methods.has(method));
  if (others.length === 0) return undefined;
  const supported = others.map(({ version }) => version);
  throw new VersionNotSupportedError(asked.version, supported, { assumed });
}
