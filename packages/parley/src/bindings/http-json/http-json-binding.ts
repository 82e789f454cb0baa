import type { WireCodec, WireForm } from '../../codec/wire-codec.js';
import { A2AError } from '../../errors/a2a-error.js';
import { ContentTypeNotSupportedError } from '../../errors/spec-errors.js';
import { answersCard } from '../../operations/operations.js';
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
import { askedVersion } from '../http/call-context.js';
import { beginRecord } from '../http/call-record.js';
import { httpStatus } from '../http/error-numbers.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../http/exchange.js';
import { parseJson, readText } from '../http/json-body.js';
import { type Offer, offerOf } from '../http/offer.js';
import { errorBody, errorFrame } from './errors.js';
import { answerType, isReadable } from './media-types.js';
import { bodyMembers, queryMembers, type RequestMembers, setMembers } from './request-value.js';
import type { RouteMatch } from './route-table.js';
import { Routing } from './routing.js';

/** An extended card may differ from caller to caller (Spec §13.3). */
const OWN_CARD = { 'cache-control': 'private, no-cache' };

/** The HTTP+JSON binding of an agent (Spec §11): all routes below `basePath`, the path of the interface url. */
export function httpJsonBinding(endpoint: BindingContext, codecs: readonly WireCodec[], basePath: string): Exchange {
  const offer = offerOf(endpoint, 'HTTP+JSON', codecs);
  const routing = new Routing(codecs, basePath);
  return (request) => answer({ endpoint, offer, routing, request });
}

/** The parts of the binding that refusals need: its codecs, and the version of a call without any. */
interface RefusalOptions {
  readonly codecs: readonly WireCodec[];
  /** The path of the interface url. */
  readonly basePath: string;
  readonly versionWhenAbsent: string;
}

/** Answers requests that the gate of the host refuses, in the form of the version that the request speaks. */
export function httpJsonRefusals({ codecs, basePath, versionWhenAbsent }: RefusalOptions) {
  const routing = new Routing(codecs, basePath);
  // The path decides the form of a refusal, and no part of the call runs.
  const offer = { codecs: new Map(codecs.map((codec) => [codec.version, codec])), strictVersions: false };
  return ({ request, error, challenges }: RefusedRequest): ExchangeResponse => {
    const call = beginRecord('HTTP+JSON');
    call.code = error.code;
    const spoken = spokenCodec(request, { routing, offer, versionWhenAbsent });
    const headers = {
      'content-type': answerType(request, spoken?.version ?? ''),
      ...refusalHeaders(error, challenges),
    };
    return { status: httpStatus(error), headers, body: errorBody(error, spoken), call };
  };
}

/** The codec of the route that a request asks for, or else of the version that it names. */
function spokenCodec(
  request: ExchangeRequest,
  {
    routing,
    offer,
    versionWhenAbsent,
  }: {
    readonly routing: Routing;
    readonly offer: Pick<Offer, 'codecs' | 'strictVersions'>;
    readonly versionWhenAbsent: string;
  },
): WireCodec | undefined {
  try {
    const version = tryVersion(request, offer, versionWhenAbsent);
    const asked = version instanceof A2AError ? undefined : version;
    return routing.find(request.path, offer, asked)[0]?.codec ?? asked;
  } catch {
    return undefined;
  }
}

interface HttpJsonCallOptions {
  readonly endpoint: BindingContext;
  readonly offer: Offer;
  readonly routing: Routing;
  readonly request: ExchangeRequest;
}

async function answer({ endpoint, offer, routing, request }: HttpJsonCallOptions): Promise<ExchangeResponse> {
  const record = beginRecord('HTTP+JSON');
  let name = request.path;
  let spoken: WireCodec | undefined;
  try {
    const version = tryVersion(request, offer, endpoint.versionWhenAbsent);
    const asked = version instanceof A2AError ? undefined : version;
    if (asked !== undefined) spoken = asked;
    const match = chooseRoute(request, routing.find(request.path, offer, asked));
    const { codec, route } = match;
    const { operation } = route;
    spoken = codec;
    name = operation;
    record.operation = operation;
    record.version = codec.version;
    const { value, form } = await readValue(request, match, endpoint);
    if (version instanceof A2AError) throw version;
    const call = prepareCall({ endpoint, offer, codec, operation, value, form, request, record });
    return await answerCall(call, formOf(request, match));
  } catch (thrown) {
    const error = failureOf(thrown, { endpoint, request, record, operation: name });
    const { allow } = error.details.metadata ?? {};
    const headers = {
      'content-type': answerType(request, spoken?.version ?? ''),
      ...failureHeaders(error, endpoint, allow),
    };
    return { status: httpStatus(error), headers, body: errorBody(error, spoken), call: record };
  }
}

function formOf(request: ExchangeRequest, { codec, route: { operation } }: RouteMatch): AnswerForm {
  return {
    headers: { 'content-type': answerType(request, codec.version), ...(answersCard(operation) && OWN_CARD) },
    wrap: bare,
    errorFrame: (error) => errorFrame(error, codec),
  };
}

/** HTTP+JSON has no envelope. */
function bare(json: string): string {
  return json;
}

/**
 * Returns the error instead of throwing it: an unknown route and an invalid body are reported before a wrong version.
 */
function tryVersion(request: ExchangeRequest, offer: Pick<Offer, 'codecs'>, whenAbsent: string): WireCodec | A2AError {
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

/** The request of an operation from body, query and path. The path wins. */
async function readValue(
  request: ExchangeRequest,
  { route, variables }: RouteMatch,
  endpoint: BindingContext,
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
