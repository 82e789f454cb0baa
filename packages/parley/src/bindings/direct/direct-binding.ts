import { A2AError, type ErrorCode } from '../../errors/a2a-error.js';
import { VersionNotSupportedError } from '../../errors/spec-errors.js';
import { isStreaming } from '../../operations/operations.js';
import { VERSION_WHEN_ABSENT } from '../../operations/versions.js';
import {
  failureHeaders,
  failureOf,
  openItems,
  type PreparedCall,
  prepareCall,
  type RefusedRequest,
  refusalHeaders,
  type UnaryMethod,
} from '../http/answer-call.js';
import type { BindingContext } from '../http/binding-context.js';
import { withExtensions } from '../http/call-context.js';
import { beginRecord, recordAnswer } from '../http/call-record.js';
import { untilCredentialEnds } from '../http/ended-credential.js';
import { httpStatus } from '../http/error-numbers.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../http/exchange.js';
import { readBytes } from '../http/json-body.js';
import { offerOf } from '../http/offer.js';
import type { DirectAnswer } from './direct-call.js';
import { ItemStream } from './item-stream.js';

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
/** The answer to a request without a call: its caller is admitted. */
const ADMITTED: ExchangeResponse = Object.freeze({
  status: 200,
  headers: NO_HEADERS,
  direct: Object.freeze({ kind: 'response', response: undefined }),
});

/**
 * The exchange of an agent for a binding with its own message format. `binding` is the name in records, and `inCards`
 * in cards if that differs. The exchange answers with values (`ExchangeResponse.direct`), which the binding encodes
 * itself.
 */
export function directBinding(endpoint: BindingContext, binding: string, inCards = binding): Exchange {
  const offer = offerOf(endpoint, inCards, []);
  return async (request) => {
    if (request.call === undefined) return ADMITTED;
    const { operation, decoder, assumesVersion = false } = request.call;
    const record = beginRecord(binding);
    try {
      const { declared } = offer;
      if (declared.size > 0 && !declared.has(decoder.version))
        throw new VersionNotSupportedError(decoder.version, [...declared]);
      if (offer.strictVersions && assumesVersion && decoder.version !== VERSION_WHEN_ABSENT)
        throw new VersionNotSupportedError(VERSION_WHEN_ABSENT, [decoder.version], { assumed: true });
      const value = request.call.value ?? (await readBytes(request, endpoint));
      const call = prepareCall({
        endpoint,
        offer,
        codec: decoder,
        operation,
        value,
        form: 'json',
        request,
        record,
      });
      const direct: DirectAnswer = isStreaming(operation)
        ? { kind: 'stream', items: await ItemStream.open({ ...openItems(call), firstItemMs: endpoint.heartbeatMs }) }
        : { kind: 'response', response: await responseOf(call) };
      if (direct.kind === 'response') recordAnswer(record, direct.response);
      call.release?.();
      return { status: 200, headers: withExtensions(NO_HEADERS, call.context), direct, call: record };
    } catch (thrown) {
      const error = failureOf(thrown, { endpoint, request, record, operation });
      return directError(error, { headers: failureHeaders(error, endpoint), call: record });
    }
  };
}

async function responseOf({ received, request, context }: PreparedCall): ReturnType<UnaryMethod> {
  const { endpoint, operation } = received;
  const { handler } = endpoint;
  const work = (handler[operation] as UnaryMethod).call(handler, request, context);
  const { onCredentialEnd } = received.request;
  const watched = onCredentialEnd && untilCredentialEnds(work, onCredentialEnd);
  try {
    return await (watched?.outcome ?? work);
  } finally {
    watched?.stop();
  }
}

/** The answer to a request that a middleware refuses. */
export function refusedDirectly(binding: string): (refused: RefusedRequest) => ExchangeResponse {
  return ({ error, challenges }) => {
    const call = beginRecord(binding);
    call.code = error.code;
    return directError(error, { headers: refusalHeaders(error, challenges), call });
  };
}

function directError(error: A2AError, rest: Pick<ExchangeResponse, 'headers' | 'call'>): ExchangeResponse {
  return { status: httpStatus(error), direct: { kind: 'error', error }, ...rest };
}

/** Errors by the status of a middleware that knows no bindings. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** Makes a direct call through the exchange of an agent. */
export async function callDirectly(exchange: Exchange, request: ExchangeRequest): Promise<DirectReply> {
  const { direct, headers, status } = await exchange(request);
  if (direct !== undefined) return { answer: direct, headers };
  const code = BY_STATUS[status] ?? 'INTERNAL_ERROR';
  return { answer: { kind: 'error', error: new A2AError(code, 'The agent cannot be reached now') }, headers };
}

/** An answer with its headers: activated extensions, challenges, the time until a retry. */
export interface DirectReply {
  readonly answer: DirectAnswer;
  readonly headers: Readonly<Record<string, string>>;
}
