import { challengeHeaders } from '../../auth/challenge.js';
import { requireSkill } from '../../auth/requirements.js';
import type { WireCodec, WireForm } from '../../codec/wire-codec.js';
import { A2AError } from '../../errors/a2a-error.js';
import { InvalidParamsError, tooDeep } from '../../errors/standard-errors.js';
import { isNestedDeeper, MAX_NESTING } from '../../model/json-fault.js';
import { requireCapabilities } from '../../operations/capabilities.js';
import { requireContentTypes } from '../../operations/content-types.js';
import {
  isStreaming,
  type OperationName,
  type OperationTypes,
  RUNNING_OPERATIONS,
  type UnaryOperationName,
} from '../../operations/operations.js';
import { addressOf } from '../../operations/request-address.js';
import type { Clock } from '../../runtime/clock.js';
import type { FullPlaces, KeyedPlacesOptions } from '../../runtime/keyed-places.js';
import type { ServerCallContext } from '../../server/server-call-context.js';
import { withWholeEnds } from '../../task/artifact-end.js';
import type { StreamItem } from '../../task/stream-item.js';
import { CALL_LIMITS } from '../../telemetry/reached-limit.js';
import type { RequestDecoder } from '../direct/direct-call.js';
import type { BindingContext, RequestLimits } from './binding-context.js';
import { HttpCallContext, withExtensions } from './call-context.js';
import { type CallRecord, recordAnswer } from './call-record.js';
import { hasHabit } from './client-habits.js';
import { codingHeaders } from './content-coding.js';
import { untilCredentialEnds } from './ended-credential.js';
import type { ExchangeRequest, ExchangeResponse } from './exchange.js';
import type { Offer } from './offer.js';
import { EVENT_STREAM_HEADERS, eventFrame, SseStream } from './sse-stream.js';
import { retryHeaders, toA2AError } from './wire-error.js';

/** A call as its binding has read it. */
interface ReceivedCall<Codec extends RequestDecoder = RequestDecoder> {
  readonly endpoint: BindingContext;
  readonly offer: Pick<Offer, 'capabilities' | 'extensions' | 'requiresExtension'>;
  readonly codec: Codec;
  readonly operation: OperationName;
  /** The request in its wire form. */
  readonly value: unknown;
  readonly form: WireForm;
  readonly request: ExchangeRequest;
  readonly record: CallRecord;
}

/** A call that is ready for the handler. */
export interface PreparedCall<Codec extends RequestDecoder = RequestDecoder> {
  readonly received: ReceivedCall<Codec>;
  readonly request: OperationTypes[OperationName]['request'];
  readonly context: ServerCallContext;
  /** Releases the memory of the body. Absent: it is not counted. */
  readonly release: (() => void) | undefined;
}

/** The parts of an answer that each binding writes in its own way. */
export interface AnswerForm {
  /** The headers of a unary answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Puts the JSON of a response, or of one event, into the envelope of the binding. */
  wrap(json: string): string;
  /** The frame of an error that ends a stream after its start (Spec §3.5.2). */
  errorFrame(error: A2AError): string;
}

/** Decodes a call and checks it in the order of Spec §3.3.4: parameters, required extensions, capabilities. */
export function prepareCall<Codec extends RequestDecoder>(received: ReceivedCall<Codec>): PreparedCall<Codec> {
  const { codec, endpoint, offer, operation, record } = received;
  const { user } = received.request;
  record.agent = endpoint.agent;
  record.operation = operation;
  record.version = codec.version;
  const request = codec.decode(operation, received.value, received.form, endpoint.limits.jsonItems);
  limitRequest(request, endpoint.limits);
  const address = addressOf(request);
  record.tenant = request.tenant;
  record.taskId = address.taskId;
  record.contextId = address.contextId;
  const release = endpoint.bodies?.releaseOf(received.request);
  const context = new HttpCallContext({
    request: received.request,
    operation,
    address,
    version: codec.version,
    offer,
    caller: RUNNING_OPERATIONS.has(operation) ? (user?.id ?? endpoint.addressOf?.(received.request)) : undefined,
    takenIn: release,
  });
  requireCapabilities(operation, request, offer.capabilities);
  if (endpoint.skillRequirements !== undefined && 'message' in request) requireSkill(user, endpoint.skillRequirements);
  if (endpoint.modes !== undefined && 'message' in request) requireContentTypes(request, endpoint.modes);
  return { received, request, context, release };
}

/** A method of a handler for any unary operation. */
export type UnaryMethod = (
  request: OperationTypes[OperationName]['request'],
  context: ServerCallContext,
) => Promise<OperationTypes[UnaryOperationName]['response']>;

/**
 * Calls the handler, and answers with its response or its stream. Rejects if the handler throws before a stream begins.
 */
export async function answerCall(call: PreparedCall<WireCodec>, form: AnswerForm): Promise<ExchangeResponse> {
  const { received, context, release } = call;
  const { endpoint, codec, operation, record, request } = received;
  if (isStreaming(operation)) {
    const { failure, ...opened } = openItems(call);
    const frames = {
      event: (item: StreamItem) => eventFrame(form.wrap(codec.encodeEvent(item)), item.seq),
      failure: (thrown: unknown) => form.errorFrame(failure(thrown)),
    };
    const { afterPromises } = request;
    const body = await SseStream.open({ ...opened, frames, heartbeatMs: endpoint.heartbeatMs, afterPromises });
    release?.();
    return { status: 200, headers: withExtensions(EVENT_STREAM_HEADERS, context), body, call: record };
  }
  const { handler } = endpoint;
  const work = (handler[operation] as UnaryMethod).call(handler, call.request, context);
  const { onCredentialEnd } = request;
  const watched = onCredentialEnd && untilCredentialEnds(work, onCredentialEnd);
  try {
    const response = await (watched?.outcome ?? work);
    recordAnswer(record, response);
    release?.();
    const body = form.wrap(codec.encode(operation, response));
    return { status: 200, headers: withExtensions(form.headers, context), body, call: record };
  } finally {
    watched?.stop();
  }
}

type StreamingMethod = (
  request: OperationTypes[OperationName]['request'],
  context: ServerCallContext,
) => AsyncIterable<StreamItem>;

/** The events of a streaming call, and its end. */
interface OpenedItems {
  readonly items: AsyncIterable<StreamItem>;
  /** Releases the place of the stream. Call it once. */
  readonly closed: () => void;
  /** The error for the caller, for an error after the stream began. */
  readonly failure: (thrown: unknown) => A2AError;
  readonly clock: Clock;
  /** Calls its argument when the stream must end, because the credential of the caller ended. */
  readonly onCredentialEnd: ExchangeRequest['onCredentialEnd'];
  /** Records the task of the first event. */
  readonly record: CallRecord;
}

/**
 * Calls the handler of a streaming operation.
 * @throws A2AError RESOURCE_EXHAUSTED if the caller has too many streams.
 */
export function openItems({ received, request, context }: PreparedCall): OpenedItems {
  const { endpoint, operation, record } = received;
  const { handler, logger, streamPlaces, clock } = endpoint;
  const { onCredentialEnd } = received.request;
  const full = streamPlaces?.take(context.caller);
  if (streamPlaces !== undefined && full !== undefined) throw tooManyStreams(full, streamPlaces.limits);
  const closed = () => streamPlaces?.give(context.caller);
  const failure = (thrown: unknown) => {
    const error = toA2AError(thrown, logger, { operation, requestId: received.request.requestId });
    endpoint.streamBroke?.(error.code);
    return error;
  };
  const { artifactEnd = 'auto' } = endpoint;
  const isWhole = artifactEnd === 'auto' ? hasHabit(received.request, 'whole ends') : artifactEnd === 'whole';
  try {
    const items = (handler[operation] as StreamingMethod).call(handler, request, context);
    return { items: isWhole ? withWholeEnds(items) : items, closed, failure, clock, onCredentialEnd, record };
  } catch (error) {
    closed();
    throw error;
  }
}

const STREAMS_RETRY_MS = 5_000;

function tooManyStreams(full: FullPlaces, { perKey, total }: KeyedPlacesOptions): A2AError {
  const message =
    full === 'key'
      ? `Too many streams: ${perKey} of this caller are open. Close one of them first`
      : `Too many streams: ${total} are open on this server. Try again later`;
  return new A2AError('RESOURCE_EXHAUSTED', message, {
    metadata: { limit: 'streams' },
    retryAfterMs: STREAMS_RETRY_MS,
  });
}

/** A request that failed before its answer began. */
export interface FailedCall {
  readonly endpoint: BindingContext;
  readonly request: ExchangeRequest;
  readonly record: CallRecord;
  /** The name of the operation in the log, as far as it is known. */
  readonly operation: string;
}

/** The error for the answer. Logs a fault of the server, and releases the memory of the body. */
export function failureOf(thrown: unknown, { endpoint, request, record, operation }: FailedCall): A2AError {
  const error = toA2AError(thrown, endpoint.logger, { operation, requestId: request.requestId });
  record.agent = endpoint.agent;
  record.code = error.code;
  tellLimit(error, endpoint, request);
  endpoint.bodies?.release(request);
  return error;
}

/** Ports for reporting a limit that refused a request. */
export type LimitPorts = Pick<BindingContext, 'limitReached' | 'addressOf'>;

/**
 * Reports the limit that the error names. An exhausted resource with another name is one of the agent, and not
 * reported.
 */
export function tellLimit(
  { code, details }: A2AError,
  { limitReached, addressOf }: LimitPorts,
  request: ExchangeRequest,
): void {
  const known = CALL_LIMITS.find((limit) => limit === details.metadata?.limit);
  if (known === undefined && code !== 'RESOURCE_EXHAUSTED') return;
  const caller = request.user?.id ?? addressOf?.(request);
  limitReached?.({ limit: known ?? 'agent', caller, requestId: request.requestId });
}

/** The headers of an error answer: when to retry, how to authenticate, and the allowed methods if there are any. */
export function failureHeaders(
  error: A2AError,
  { challenges }: BindingContext,
  allow?: string,
): Readonly<Record<string, string>> {
  const refusal = { ...refusalHeaders(error, challenges), ...codingHeaders(error) };
  return error.code === 'METHOD_NOT_ALLOWED' && allow !== undefined ? { ...refusal, allow } : refusal;
}

/** A request that the gate of a host refuses before a binding reads it. */
export interface RefusedRequest {
  readonly request: ExchangeRequest;
  readonly error: A2AError;
  /** The challenges of the authenticator, for an error without any. */
  readonly challenges: readonly string[];
}

/** The headers of a refusal: when to retry, and how to authenticate. */
export function refusalHeaders(error: A2AError, challenges?: readonly string[]): Readonly<Record<string, string>> {
  return { ...retryHeaders(error), ...challengeHeaders(error, challenges) };
}

/**
 * Checks the limits of a valid request. Every event repeats ids, so that a long id costs far more than its request.
 * @throws InvalidParamsError naming the first field beyond its limit. A2AError INVALID_REQUEST for a value that is
 * nested too deeply.
 */
function limitRequest(request: OperationTypes[OperationName]['request'], limits: RequestLimits): void {
  const { parts, idLength, jsonDepth } = limits;
  const { tenant, id, taskId, contextId } = request as Readonly<Record<string, unknown>>;
  limitId('tenant', tenant, idLength);
  limitId('id', id, idLength);
  limitId('taskId', taskId, idLength);
  limitId('contextId', contextId, idLength);
  // The validator has checked the largest allowed depth.
  if (jsonDepth < MAX_NESTING) limitDepths(request, jsonDepth);
  if (!('message' in request)) return;
  const { message } = request;
  limitId('message.messageId', message.messageId, idLength);
  limitId('message.contextId', message.contextId, idLength);
  limitId('message.taskId', message.taskId, idLength);
  if (message.parts.length > parts) throw tooMuch('message.parts', `must not have more than ${parts} parts`, 'parts');
  const { referenceTaskIds } = message;
  if (referenceTaskIds === undefined) return;
  for (const [at, other] of referenceTaskIds.entries()) limitId(`message.referenceTaskIds[${at}]`, other, idLength);
}

function limitDepths(request: OperationTypes[OperationName]['request'], levels: number): void {
  if ('metadata' in request) limitDepth('metadata', request.metadata, levels);
  if (!('message' in request)) return;
  limitDepth('message.metadata', request.message.metadata, levels);
  for (const [at, part] of request.message.parts.entries()) {
    if (part.data !== undefined) limitDepth(`message.parts[${at}].data`, part.data, levels);
    limitDepth(`message.parts[${at}].metadata`, part.metadata, levels);
  }
}

function limitDepth(field: string, value: unknown, levels: number): void {
  if (isNestedDeeper(value, levels)) throw tooDeep(levels, field);
}

function limitId(field: string, id: unknown, limit: number): void {
  if (typeof id === 'string' && id.length > limit)
    throw tooMuch(field, `must not have more than ${limit} characters`, 'idLength');
}

function tooMuch(field: string, description: string, limit: keyof RequestLimits): InvalidParamsError {
  return new InvalidParamsError([{ field, description }], limit);
}
