import { challengeHeaders } from '../../auth/challenge.js';
import type { WireCodec } from '../../codec/wire-codec.js';
import { A2AError } from '../../errors/a2a-error.js';
import { ContentTypeNotSupportedError, VersionNotSupportedError } from '../../errors/spec-errors.js';
import { isStreaming, type OperationName } from '../../operations/operations.js';
import { chooseVersion, isLater } from '../../operations/versions.js';
import type { AgentEndpoint } from '../http/agent-endpoint.js';
import { answerStreaming, answerUnary, prepareCall } from '../http/call.js';
import { withExtensions } from '../http/call-context.js';
import { CallRecord } from '../http/call-record.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../http/exchange.js';
import { parseJson, readText } from '../http/json-body.js';
import { essence, JSON_TYPE } from '../http/media-type.js';
import { type Offer, offerOf } from '../http/offer.js';
import { EVENT_STREAM_HEADERS, eventFrame, SseStream } from '../http/sse-stream.js';
import { retryHeaders, toA2AError } from '../http/wire-error.js';
import { readsObjectData, readsOnlyStreams } from './client-habits.js';
import { idOf, readEnvelope, refuseNotification } from './envelope.js';
import { errorResponse } from './errors.js';
import { type JsonRpcDialect, SPECIFIED } from './jsonrpc-dialect.js';

const JSON_HEADERS: Readonly<Record<string, string>> = Object.freeze({ 'content-type': JSON_TYPE });

/** How far a request got: what an error answer needs to know. */
interface Progress {
  /** The id as JSON. */
  id: string;
  method: string;
  codec: WireCodec | undefined;
  readonly record: CallRecord;
}

/** The JSON-RPC binding of an agent (spec §9): every POST on the bare interface url, unless a dialect has it otherwise. */
export function jsonRpcBinding(
  endpoint: AgentEndpoint,
  codecs: readonly WireCodec[],
  dialect: JsonRpcDialect = SPECIFIED,
): Exchange {
  const offer = offerOf(endpoint, 'JSONRPC', codecs);
  return (request) => {
    const progress: Progress = { id: 'null', method: '', codec: undefined, record: new CallRecord('JSONRPC') };
    return answer({ endpoint, offer, dialect, request, progress }).catch((thrown: unknown) => {
      const { method, record } = progress;
      const error = toA2AError(thrown, endpoint.logger, { operation: method, requestId: request.requestId });
      record.code = error.code;
      endpoint.bodies?.release(request);
      const operation = codecs.map(({ methods }) => methods.get(method)).find((found) => found !== undefined);
      const streaming = operation !== undefined && isStreaming(operation);
      return failure({ error, endpoint, dialect, request, progress, streaming });
    });
  };
}

interface AnswerParts {
  readonly endpoint: AgentEndpoint;
  readonly offer: () => Offer;
  readonly dialect: JsonRpcDialect;
  readonly request: ExchangeRequest;
  readonly progress: Progress;
}

/** The order of the checks is that of the specification's error precedence: HTTP, JSON, envelope, version, method, call. */
async function answer({ endpoint, offer, dialect, request, progress }: AnswerParts): Promise<ExchangeResponse> {
  if (request.method !== 'POST') throw new A2AError('METHOD_NOT_ALLOWED', 'The method must be POST');
  const { authenticator, limits, handler } = endpoint;
  const user = authenticator === undefined ? undefined : await authenticator.authenticate(request);
  if (essence(request.header('content-type')) !== JSON_TYPE) {
    throw new ContentTypeNotSupportedError(`the Content-Type must be ${JSON_TYPE}`);
  }
  const text = await readText(request, endpoint);
  const body = parseJson(text, limits);
  progress.id = limitedId(idOf(body, text), limits.idLength);
  const envelope = readEnvelope(body);
  const { method, params } = envelope;
  progress.method = method;
  const offered = offer();
  const asked = chooseVersion(dialect.askedVersion(request), offered.codecs, endpoint.versionWhenAbsent);
  const { codec, operation } = findMethod(method, asked, offered) ?? unknownMethod(dialect, method);
  progress.codec = codec;
  const { record } = progress;
  const parts = { endpoint, offer: offered, codec, value: params, form: 'json', request, user, record } as const;
  if (isStreaming(operation)) {
    const call = prepareCall(operation, parts);
    refuseNotification(envelope);
    const { id } = progress;
    const opening = `{"jsonrpc":"2.0","id":${id},"result":`;
    const stream = await SseStream.open({
      items: answerStreaming(handler, call),
      frames: {
        event: (item) => eventFrame(`${opening}${codec.encodeEvent(item)}}`, item.seq),
        failure: (thrown) => {
          const error = toA2AError(thrown, endpoint.logger, { operation, requestId: request.requestId });
          endpoint.streamBroke?.(error.code);
          const data = dialect.errorData?.(error, record.taskId);
          const isObject = readsObjectData(request, codec);
          return eventFrame(errorResponse(id, error, { codec, data, isObject }));
        },
      },
      clock: endpoint.clock,
      heartbeatMs: endpoint.heartbeatMs,
      openStreams: endpoint.openStreams,
      record,
    });
    endpoint.bodies?.release(request);
    const headers = withExtensions(EVENT_STREAM_HEADERS, call.context);
    return { status: 200, headers, body: stream, call: record };
  }
  const call = prepareCall(operation, parts);
  refuseNotification(envelope);
  const result = await answerUnary(handler, codec, call);
  endpoint.bodies?.release(request);
  return {
    status: 200,
    headers: withExtensions(JSON_HEADERS, call.context),
    body: `{"jsonrpc":"2.0","id":${progress.id},"result":${result}}`,
    call: record,
  };
}

/** An id is echoed with every event of a stream. */
function limitedId(id: string, limit: number): string {
  // Its quotes included.
  if (id.length <= limit + 2) return id;
  throw new A2AError('INVALID_REQUEST', `id must not have more than ${limit} characters`);
}

/**
 * The operation of a method in the version asked for. A caller who names an older version than the method has, or none,
 * is answered in that of the method: names tell the versions apart, and samples of the specification mix them (§9.2).
 * @throws VersionNotSupportedError for a method of an older version than the caller names.
 */
function findMethod(
  method: string,
  asked: WireCodec,
  offer: Offer,
): { codec: WireCodec; operation: OperationName } | undefined {
  const operation = asked.methods.get(method);
  if (operation !== undefined) return { codec: asked, operation };
  for (const codec of offer.codecs.values()) {
    const later = isLater(codec.version, asked.version) ? codec.methods.get(method) : undefined;
    if (later !== undefined) return { codec, operation: later };
  }
  const older = [...offer.codecs.values()].filter(({ methods }) => methods.has(method));
  if (older.length === 0) return undefined;
  throw new VersionNotSupportedError(
    asked.version,
    older.map(({ version }) => version),
  );
}

function unknownMethod(dialect: JsonRpcDialect, method: string): never {
  throw new A2AError('METHOD_NOT_FOUND', dialect.methodNotFound(method));
}

interface FailureParts {
  readonly error: A2AError;
  readonly endpoint: AgentEndpoint;
  readonly dialect: JsonRpcDialect;
  readonly request: ExchangeRequest;
  readonly progress: Progress;
  readonly streaming: boolean;
}

function failure({ error, endpoint, dialect, request, progress, streaming }: FailureParts): ExchangeResponse {
  const { id, codec, record } = progress;
  const status = dialect.httpStatus(error.code);
  const body = errorResponse(id, error, {
    codec,
    data: dialect.errorData?.(error, record.taskId),
    isObject: readsObjectData(request, codec),
  });
  const retry = retryHeaders(error);
  if (status === 200 && streaming && readsOnlyStreams(request, codec)) {
    return { status, headers: { ...EVENT_STREAM_HEADERS, ...retry }, body: eventFrame(body), call: record };
  }
  const allow = error.code === 'METHOD_NOT_ALLOWED' ? { allow: 'POST' } : undefined;
  const challenge = challengeHeaders(error, endpoint.authenticator);
  const headers = { 'content-type': JSON_TYPE, ...retry, ...allow, ...challenge };
  return { status, headers, body, call: record };
}
