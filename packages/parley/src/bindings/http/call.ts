import type { User } from '../../auth/user.js';
import type { WireCodec, WireForm } from '../../codec/wire-codec.js';
import { requireCapabilities } from '../../operations/capabilities.js';
import { requireContentTypes } from '../../operations/content-types.js';
import type {
  OperationName,
  OperationTypes,
  StreamingOperationName,
  UnaryOperationName,
} from '../../operations/operations.js';
import { addressOf } from '../../operations/request-address.js';
import type { RequestHandler } from '../../server/request-handler.js';
import type { ServerCallContext } from '../../server/server-call-context.js';
import type { StreamItem } from '../../task/stream-item.js';
import type { AgentEndpoint } from './agent-endpoint.js';
import { httpCallContext } from './call-context.js';
import type { CallRecord } from './call-record.js';
import type { ExchangeRequest } from './exchange.js';
import { limitRequest } from './limit-request.js';
import type { Offer } from './offer.js';

/** What a binding has found out about a call when it hands it on. */
export interface HttpCallOptions {
  readonly endpoint: AgentEndpoint;
  readonly offer: Offer;
  readonly codec: WireCodec;
  /** The request in its wire form. */
  readonly value: unknown;
  readonly form: WireForm;
  readonly request: ExchangeRequest;
  readonly user: User | undefined;
  readonly record: CallRecord;
}

/** A call ready for the handler. */
export interface Call<Name extends OperationName> {
  readonly operation: Name;
  readonly request: OperationTypes[Name]['request'];
  readonly context: ServerCallContext;
  readonly record: CallRecord;
}

/** Checks a call in the order params, required extensions, capabilities (spec §3.3.4). */
export function prepareCall<Name extends OperationName>(operation: Name, parts: HttpCallOptions): Call<Name> {
  const { codec, endpoint, offer, record } = parts;
  record.operation = operation;
  record.version = codec.version;
  const request = codec.decode(operation, parts.value, parts.form);
  limitRequest(request, endpoint.limits);
  record.asked(request);
  const context = httpCallContext({
    request: parts.request,
    operation,
    address: addressOf(request),
    version: codec.version,
    offer,
    user: parts.user,
    bodies: endpoint.bodies,
  });
  requireCapabilities(operation, request, offer.capabilities);
  if (endpoint.modes !== undefined && 'message' in request) requireContentTypes(request, endpoint.modes);
  return { operation, request, context, record };
}

type UnaryMethods = {
  readonly [Name in UnaryOperationName]: (
    request: OperationTypes[Name]['request'],
    context: ServerCallContext,
  ) => Promise<OperationTypes[Name]['response']>;
};

/** The handler's answer to a unary call, as JSON of the codec's version. */
export function answerUnary<Name extends UnaryOperationName>(
  handler: RequestHandler,
  codec: WireCodec,
  { operation, request, context, record }: Call<Name>,
): Promise<string> {
  const methods: UnaryMethods = handler;
  return methods[operation](request, context).then((response) => {
    record.answered(response);
    return codec.encode(operation, response);
  });
}

type StreamingMethods = {
  readonly [Name in StreamingOperationName]: (
    request: OperationTypes[Name]['request'],
    context: ServerCallContext,
  ) => AsyncIterable<StreamItem>;
};

/** The handler's answer to a streaming call. */
export function answerStreaming<Name extends StreamingOperationName>(
  handler: RequestHandler,
  { operation, request, context }: Call<Name>,
): AsyncIterable<StreamItem> {
  const methods: StreamingMethods = handler;
  return methods[operation](request, context);
}
