import { challengeHeaders } from '../../auth/challenge.js';
import type { WireCodec, WireForm } from '../../codec/wire-codec.js';
import { A2AError } from '../../errors/a2a-error.js';
import { ContentTypeNotSupportedError } from '../../errors/spec-errors.js';
import { answersCard, isStreaming } from '../../operations/operations.js';
import { chooseVersion } from '../../operations/versions.js';
import type { AgentEndpoint } from '../http/agent-endpoint.js';
import { answerStreaming, answerUnary, prepareCall } from '../http/call.js';
import { askedVersion, withExtensions } from '../http/call-context.js';
import { CallRecord } from '../http/call-record.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../http/exchange.js';
import { parseJson, readText } from '../http/json-body.js';
import { type Offer, offerOf } from '../http/offer.js';
import { EVENT_STREAM_HEADERS, eventFrame, SseStream } from '../http/sse-stream.js';
import { retryHeaders, toA2AError } from '../http/wire-error.js';
import { errorBody, errorFrame, httpStatus } from './errors.js';
import { answerType, isReadable } from './media-types.js';
import { bodyMembers, queryMembers, type RequestMembers, setMembers } from './request-value.js';
import type { RouteMatch } from './route-table.js';
import { Routing } from './routing.js';

/** An extended card may differ from caller to caller (spec §13.3). */
const OWN_CARD = { 'cache-control': 'private, no-cache' };

/** How far a request got: what an error answer needs to know. */
interface Progress {
  codec: WireCodec | undefined;
  operation: string;
  readonly record: CallRecord;
}

interface AnswerParts {
  readonly endpoint: AgentEndpoint;
  readonly offer: () => Offer;
  readonly routing: Routing;
  readonly request: ExchangeRequest;
  readonly progress: Progress;
}

/** The HTTP+JSON binding of an agent (spec §11): every route below `basePath`, which is the path of the interface url. */
export function httpJsonBinding(endpoint: AgentEndpoint, codecs: readonly WireCodec[], basePath: string): Exchange {
  const offer = offerOf(endpoint, 'HTTP+JSON', codecs);
  const routing = new Routing(codecs, basePath);
  return (request) => {
    const record = new CallRecord('HTTP+JSON');
    const progress: Progress = { codec: undefined, operation: request.path, record };
    return answer({ endpoint, offer, routing, request, progress }).catch((thrown: unknown) => {
      const { operation, codec } = progress;
      const error = toA2AError(thrown, endpoint.logger, { operation, requestId: request.requestId });
      record.code = error.code;
      endpoint.bodies?.release(request);
      return failure({ error, endpoint, request, codec, record });
    });
  };
}

async function answer({ endpoint, offer, routing, request, progress }: AnswerParts): Promise<ExchangeResponse> {
  const offered = offer();
  const version = tryVersion(request, offered, endpoint.versionWhenAbsent);
  const asked = version instanceof A2AError ? undefined : version;
  if (asked !== undefined) progress.codec = asked;
  const match = chooseRoute(request, routing.find(request.path, offered, asked));
  const { codec, route } = match;
  const { operation } = route;
  progress.codec = codec;
  progress.operation = operation;
  progress.record.operation = operation;
  progress.record.version = codec.version;
  const { authenticator, handler } = endpoint;
  const user = authenticator === undefined ? undefined : await authenticator.authenticate(request);
  const { value, form } = await readValue(request, match, endpoint);
  if (version instanceof A2AError) throw version;
  const { record } = progress;
  const parts = { endpoint, offer: offered, codec, value, form, request, user, record };
  if (isStreaming(operation)) {
    const call = prepareCall(operation, parts);
    const stream = await SseStream.open({
      items: answerStreaming(handler, call),
      frames: {
        event: (item) => eventFrame(codec.encodeEvent(item), item.seq),
        failure: (thrown) => {
          const fields = { operation, requestId: request.requestId };
          const error = toA2AError(thrown, endpoint.logger, fields);
          endpoint.streamBroke?.(error.code);
          return errorFrame(error, codec);
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
  const body = await answerUnary(handler, codec, call);
  endpoint.bodies?.release(request);
  const headers = {
    'content-type': answerType(request, codec.version),
    ...(answersCard(operation) && OWN_CARD),
  };
  return { status: 200, headers: withExtensions(headers, call.context), body, call: record };
}

/** Not thrown at once: an unknown route is answered as such, and a broken body before a wrong version. */
function tryVersion(request: ExchangeRequest, offer: Offer, whenAbsent: string): WireCodec | A2AError {
  try {
    return chooseVersion(askedVersion(request), offer.codecs, whenAbsent);
  } catch (error) {
    if (error instanceof A2AError) return error;
    throw error;
  }
}

function chooseRoute(request: ExchangeRequest, matches: readonly RouteMatch[]): RouteMatch {
  const match = matches.find(({ route }) => route.method === request.method);
  if (match !== undefined) return match;
  if (matches.length === 0) throw new A2AError('METHOD_NOT_FOUND', 'There is no such route');
  const allow = [...new Set(matches.map(({ route }) => route.method))].join(', ');
  throw new A2AError('METHOD_NOT_ALLOWED', `The method must be ${allow.replace(', ', ' or ')}`, {
    metadata: { allow },
  });
}

/** The request of an operation out of body, query and path; the path has the last word. */
async function readValue(
  request: ExchangeRequest,
  { route, variables }: RouteMatch,
  endpoint: AgentEndpoint,
): Promise<{ value: RequestMembers; form: WireForm }> {
  const query = queryMembers(request.query);
  if (route.body === 'none') {
    setMembers(query, variables);
    return { value: query, form: 'text' };
  }
  const optional = route.body === 'optional';
  const contentType = request.header('content-type');
  const readable = isReadable(contentType) || (optional && contentType === undefined);
  if (!readable && !optional) throw wrongContentType();
  const text = await readText(request, endpoint);
  if (!readable && text !== '') throw wrongContentType();
  const body = text === '' && optional ? {} : parseJson(text, endpoint.limits);
  const value = bodyMembers(optional ? (body ?? {}) : body);
  if (typeof query.tenant === 'string' && query.tenant !== '') setMembers(value, { tenant: query.tenant });
  setMembers(value, variables);
  return { value, form: 'json' };
}

function wrongContentType(): A2AError {
  return new ContentTypeNotSupportedError('the Content-Type must be application/json or application/a2a+json');
}

interface FailureParts {
  readonly error: A2AError;
  readonly endpoint: AgentEndpoint;
  readonly request: ExchangeRequest;
  readonly codec: WireCodec | undefined;
  readonly record: CallRecord;
}

function failure({ error, endpoint, request, codec, record }: FailureParts): ExchangeResponse {
  const allow = error.code === 'METHOD_NOT_ALLOWED' ? error.details.metadata?.allow : undefined;
  const headers = {
    'content-type': answerType(request, codec?.version ?? ''),
    ...retryHeaders(error),
    ...(allow !== undefined && { allow }),
    ...challengeHeaders(error, endpoint.authenticator),
  };
  return { status: httpStatus(error.code), headers, body: errorBody(error, codec), call: record };
}
