import type { DescribedAnswer, Header, PathItem, Reference, Schema } from '../../openapi/document.js';
import type { OperationName } from '../../operations/operations.js';
import { isStreaming } from '../../operations/operations.js';
import { isLegacy } from '../../operations/versions.js';
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
  type WireLanguage,
} from '../http/described-agent.js';
import { ERROR_NUMBERS } from '../http/error-numbers.js';
import { errorBodySchema, errorDetailsSchema } from '../http/error-schema.js';
import { JSON_TYPE } from '../http/media-type.js';
import { offerOf } from '../http/offer.js';

interface Method {
  readonly name: string;
  readonly operation: OperationName;
  readonly language: WireLanguage;
}

/** The differences of an interface that is older than the specification, for a document. */
export interface DescribedDialect {
  /** The `data` of an error. Schemas of such an interface have their own names: `JSONRPCRequest` and so on. */
  readonly errorData: Schema;
  /** The headers of every answer. */
  readonly headers: Readonly<Record<string, Header>>;
}

/** The JSON-RPC endpoint of an agent as one operation, with a request for every method of its card. */
export function jsonRpcPath(agent: DescribedAgent, dialect?: DescribedDialect): PathItem {
  const { endpoint, languages } = agent;
  const codecs = languages.map(({ codec }) => codec);
  const versions = [...offerOf(endpoint, 'JSONRPC', codecs).codecs.keys()];
  const methods = languages
    .filter(({ codec }) => versions.includes(codec.version))
    .flatMap((language) =>
      [...language.codec.methods]
        .filter(([, operation]) => isOffered(operation, endpoint))
        .map(([name, operation]): Method => ({ name, operation, language })),
    );
  const strict = endpoint.strictVersions === true;
  const absence = { strict, required: strict && !versions.some(isLegacy) };
  const calls = methods.map((method) => [method.name, callSchema(method, agent)] as const);
  const streams = methods.some(({ operation }) => isStreaming(operation));
  const mapping = Object.fromEntries(calls.map(([name, { $ref }]) => [name, $ref]));
  const request = {
    oneOf: calls.map(([, reference]) => reference),
    discriminator: { propertyName: 'method', mapping },
  };
  const schema = dialect === undefined ? request : agent.components.add('JSONRPCRequest', request);
  return {
    post: {
      operationId: operationId(agent.name, 'jsonrpc', agent.path),
      tags: [agent.tag],
      summary: 'Call a method (JSON-RPC)',
      description: 'A failed call is answered with status 200 and an `error`.',
      parameters: [
        ...(dialect === undefined ? [versionParameter(versions, absence)] : []),
        ...extensionParameters(endpoint),
        ...(streams ? [LAST_EVENT_ID] : []),
      ],
      requestBody: { required: true, content: { [JSON_TYPE]: { schema: { ...schema } } } },
      responses: answers(agent, methods, dialect),
      ...securityOf(agent),
    },
  };
}

function callSchema({ name, operation, language }: Method, { endpoint, components }: DescribedAgent): Reference {
  const limits = schemaLimits(endpoint);
  const params = language.schemas.params(operation, components, limits);
  return components.add(`${operationId(name)}Call`, {
    type: 'object',
    required: ['jsonrpc', 'id', 'method', ...(params.optional ? [] : ['params'])],
    properties: {
      jsonrpc: { const: '2.0' },
      id: {
        type: ['string', 'number', 'null'],
        ...limits.ofIds,
        description: 'Repeated in every answer.',
      },
      method: { const: name },
      params: params.optional ? { anyOf: [params.schema, { type: 'null' }] } : params.schema,
    },
  });
}

function answers(
  agent: DescribedAgent,
  methods: readonly Method[],
  dialect: DescribedDialect | undefined,
): Readonly<Record<string, DescribedAnswer>> {
  const { endpoint, components } = agent;
  const results = (streaming: boolean) =>
    unique(
      methods
        .filter(({ operation }) => isStreaming(operation) === streaming)
        .map(({ operation, language }) => language.schemas.response(operation, components)),
    );
  const failure = { $ref: errorSchema(agent, dialect).$ref };
  const [unary, events] = [results(false), results(true)];
  const response = (of: readonly Schema[]): Schema => {
    const schema = { anyOf: [resultSchema(of), failure] };
    return dialect === undefined ? schema : { ...components.add('JSONRPCResponse', schema) };
  };
  const failed = { content: { [JSON_TYPE]: { schema: failure } } };
  const version = methods.at(0)?.language.codec.version ?? '';
  const headers = { ...extensionHeaders(endpoint, version), ...dialect?.headers };
  return {
    200: {
      description: 'The result or the error of the call. A method that streams answers with a stream of them.',
      ...(Object.keys(headers).length > 0 && { headers }),
      content: {
        [JSON_TYPE]: { schema: response(unary) },
        ...(events.length > 0 && streamContent(response(events))),
      },
    },
    ...(endpoint.challenges && {
      401: { description: 'The caller must authenticate', ...failed },
      403: { description: 'The caller is not allowed to do this', ...failed },
    }),
    413: { description: 'The body is too large', ...failed },
    ...(dialect && { 500: { description: 'Internal error', ...failed } }),
    503: {
      description: 'The server accepts no calls now',
      content: { [JSON_TYPE]: { schema: errorBodySchema(components) } },
    },
  };
}

function resultSchema(results: readonly Schema[]): Schema {
  return {
    type: 'object',
    required: ['jsonrpc', 'id', 'result'],
    properties: {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'number', 'null'] },
      result: results.length === 1 ? results[0] : { anyOf: results },
    },
    additionalProperties: false,
  };
}

function errorSchema({ components }: DescribedAgent, dialect: DescribedDialect | undefined): Reference {
  const codes = [...new Set(Object.values(ERROR_NUMBERS))].sort((a, b) => b - a);
  const error = {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { type: 'integer', enum: codes },
      message: { type: 'string' },
      data: dialect?.errorData ?? { type: 'array', items: errorDetailsSchema(components) },
    },
    additionalProperties: false,
  };
  return components.add(dialect === undefined ? 'JsonRpcError' : 'JSONRPCFailure', {
    type: 'object',
    required: ['jsonrpc', 'id', 'error'],
    properties: {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'number', 'null'] },
      error: dialect === undefined ? error : components.add('JSONRPCError', error),
    },
    additionalProperties: false,
  });
}

function unique(schemas: readonly Schema[]): readonly Schema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}
