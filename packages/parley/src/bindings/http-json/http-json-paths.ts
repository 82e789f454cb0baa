import { CHALLENGE_HEADER } from '../../auth/challenge.js';
import type { WireCodec, WireRoute } from '../../codec/wire-codec.js';
import type { SchemaLimits } from '../../codec/wire-schemas.js';
import type { ErrorCode } from '../../errors/a2a-error.js';
import type { Components } from '../../openapi/components.js';
import type {
  Content,
  DescribedAnswer,
  DescribedOperation,
  Header,
  Parameter,
  PathItem,
  Paths,
  Schema,
} from '../../openapi/document.js';
import { isStreaming, OPERATIONS } from '../../operations/operations.js';
import { chooseVersion, isLegacy } from '../../operations/versions.js';
import {
  type DescribedAgent,
  extensionHeaders,
  extensionParameters,
  isOffered,
  LAST_EVENT_ID,
  operationId,
  schemaLimits,
  securityOf,
  streamContent,
  versionParameter,
  versionsFor,
  type WireLanguage,
} from '../http/described-agent.js';
import { ERROR_STATUS } from '../http/error-numbers.js';
import { errorBodySchema, errorDetailsSchema } from '../http/error-schema.js';
import { JSON_TYPE } from '../http/media-type.js';
import { offerOf } from '../http/offer.js';
import { A2A_JSON_TYPE } from './media-types.js';

/** The routes of an agent as paths of a document: the offers of its card, in every offered version. */
export function httpJsonPaths(agent: DescribedAgent): Paths {
  const offer = offerOf(agent.endpoint, 'HTTP+JSON', codecsOf(agent));
  const paths: Record<string, PathItem> = {};
  // Paths that differ in the names of parameters alone are one path (OpenAPI 3.1 §4.8.8.1).
  const segmentsByShape = new Map<string, readonly string[]>();
  for (const language of agent.languages) {
    if (!offer.codecs.has(language.codec.version)) continue;
    for (const route of language.codec.routes) {
      if (!isOffered(route.operation, agent.endpoint)) continue;
      const shape = route.path.join('/').replaceAll(/\{\w+\}/g, '{}');
      const segments = segmentsByShape.get(shape) ?? route.path;
      segmentsByShape.set(shape, segments);
      const path = `${agent.path}/${segments.join('/')}`;
      const method = route.method.toLowerCase() as keyof PathItem;
      const versions = versionsFor(language.codec, offer);
      paths[path] = { ...paths[path], [method]: routeOperation({ agent, language, route, segments, versions }) };
    }
  }
  return paths;
}

interface RouteOptions {
  readonly agent: DescribedAgent;
  readonly language: WireLanguage;
  readonly route: WireRoute;
  /** The path of the route, with the names of parameters that the document has for it. */
  readonly segments: readonly string[];
  readonly versions: readonly string[];
}

function routeOperation(options: RouteOptions): DescribedOperation {
  const { agent, language, route } = options;
  const { operation, method, body } = route;
  const { version } = language.codec;
  // The id of a second route has its method and path.
  const isFirst = language.codec.routes.find((one) => one.operation === operation) === route;
  const name = [operation, isLegacy(version) ? version : '', ...(isFirst ? [] : [method, ...route.path])];
  return {
    operationId: operationId(agent.name, ...name),
    tags: [agent.tag],
    summary: `${OPERATIONS[operation].summary} (HTTP+JSON${isLegacy(version) ? ` ${version}` : ''})`,
    parameters: parameters(options),
    ...(body !== 'none' && {
      requestBody: {
        required: body === 'required',
        content: inJson(version, language.schemas.body(route, agent.components, schemaLimits(agent.endpoint))),
      },
    }),
    responses: { 200: success(options), ...failures(options) },
    ...securityOf(agent, operation),
  };
}

function parameters(options: RouteOptions): readonly Parameter[] {
  const { agent, language, route, segments, versions } = options;
  const { endpoint } = agent;
  const limits = schemaLimits(endpoint);
  const inPath = segments.flatMap((segment) => /^\{(\w+)\}/.exec(segment)?.[1] ?? []);
  return [
    ...inPath.map((name) => pathParameter(name, inPath, limits)),
    ...(route.body === 'none' ? language.schemas.query(route, limits) : []).map(
      ({ name, required, schema }): Parameter => ({
        name,
        in: 'query',
        required,
        description: name === 'tenant' ? TENANT : '',
        schema,
      }),
    ),
    versionParameter(versions, { required: !mayBeAbsent(options), strict: endpoint.strictVersions === true }),
    ...extensionParameters(endpoint),
    ...(isStreaming(route.operation) ? [LAST_EVENT_ID] : []),
  ];
}

/** True if a call of this route may name no version. */
function mayBeAbsent({ agent, versions }: RouteOptions): boolean {
  const offered = offerOf(agent.endpoint, 'HTTP+JSON', codecsOf(agent)).codecs;
  try {
    return versions.includes(chooseVersion(undefined, offered, agent.endpoint.versionWhenAbsent).version);
  } catch {
    return false;
  }
}

function codecsOf({ languages }: DescribedAgent): readonly WireCodec[] {
  return languages.map(({ codec }) => codec);
}

const TENANT = 'The tenant that owns the tasks. It may also be the first segment of the path below the interface.';

function pathParameter(name: string, inPath: readonly string[], { ofIds }: SchemaLimits): Parameter {
  const isConfig = name === 'pushNotificationConfigId' || (name === 'id' && inPath.includes('taskId'));
  return {
    name,
    in: 'path',
    required: true,
    description: `The id of the ${isConfig ? 'configuration' : 'task'}.`,
    schema: { type: 'string', minLength: 1, ...ofIds },
  };
}

function inJson(version: string, schema: Schema): Content {
  return { ...(!isLegacy(version) && { [A2A_JSON_TYPE]: { schema } }), [JSON_TYPE]: { schema } };
}

function success({ agent, language, route }: RouteOptions): DescribedAnswer {
  const { version } = language.codec;
  const schema = language.schemas.response(route.operation, agent.components);
  const headers = extensionHeaders(agent.endpoint, version);
  return {
    description: isStreaming(route.operation) ? 'The events as they happen' : 'Done',
    ...(Object.keys(headers).length > 0 && { headers }),
    content: isStreaming(route.operation) ? streamContent(schema) : inJson(version, schema),
  };
}

const RETRY_AFTER: Header = {
  description: 'Seconds to wait before trying again.',
  schema: { type: 'string', pattern: '^[0-9]+$' },
};
const CHALLENGE: Header = { description: 'How to authenticate.', schema: { type: 'string' } };

/** One answer per status of the errors that such a call may have. */
function failures({ agent, language, route }: RouteOptions): Readonly<Record<string, DescribedAnswer>> {
  const { components, endpoint } = agent;
  const { version } = language.codec;
  const answers: Record<string, DescribedAnswer> = {};
  for (const [status, codes] of codesByStatus()) {
    if (status === 405 || (status === 413 && route.body === 'none')) continue;
    if ((status === 401 || status === 403) && endpoint.challenges === undefined) continue;
    answers[status] = {
      description: codes.join(', '),
      ...((status === 429 || status === 503) && { headers: { 'Retry-After': RETRY_AFTER } }),
      ...(status === 401 && { headers: { [CHALLENGE_HEADER]: CHALLENGE } }),
      content: inJson(version, isLegacy(version) ? legacyErrorSchema(components) : errorBodySchema(components)),
    };
  }
  return answers;
}

function codesByStatus(): ReadonlyMap<number, readonly string[]> {
  const byStatus = new Map<number, string[]>();
  for (const code of Object.keys(ERROR_STATUS) as ErrorCode[]) {
    const { http } = ERROR_STATUS[code];
    byStatus.set(http, [...(byStatus.get(http) ?? []), code]);
  }
  return byStatus;
}

/** An error before 1.0, as `errorBody` writes it. An error before the choice of a version has the form of 1.0. */
function legacyErrorSchema(components: Components): Schema {
  const data = { type: 'array', items: errorDetailsSchema(components) };
  const properties = { code: { type: 'integer' }, message: { type: 'string' }, data };
  const legacy = components.add('v0.Error', { type: 'object', required: ['code', 'message'], properties });
  return { anyOf: [legacy, errorBodySchema(components)] };
}
