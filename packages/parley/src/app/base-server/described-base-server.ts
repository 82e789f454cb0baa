import type { BindingContext } from '../../bindings/http/binding-context.js';
import type { DescribedAgent } from '../../bindings/http/described-agent.js';
import { errorBodySchema } from '../../bindings/http/error-schema.js';
import { type DescribedDialect, jsonRpcPath } from '../../bindings/jsonrpc/jsonrpc-path.js';
import { PROTOCOL_SCHEMAS } from '../../codec/protocol-schemas.js';
import type { Components } from '../../openapi/components.js';
import type { DescribedAnswer, DescribedOperation, PathItem, Paths, Schema, Tag } from '../../openapi/document.js';
import { describedMetrics } from '../observability/metrics-endpoint.js';
import { jsonOf, objectOf } from '../openapi/described-answers.js';
import type { Describe } from '../openapi/server-document.js';
import { CALL_PATHS, codecAt } from './base-server-calls.js';

/** The groups of endpoints, under the names that callers of base servers know. */
const CORE: Tag = { name: 'Core', description: 'One agent behind fixed endpoints, in the words of A2A 0.2.5.' };
const CACHE: Tag = { name: 'Cache', description: 'The cached answers of /discover and /health.' };
const MONITORING: Tag = { name: 'Monitoring', description: 'What the server says of itself.' };
const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const TIME: Schema = { type: 'string', format: 'date-time' };
const FLAG: Schema = { type: 'boolean' };
const TEXTS: Schema = { type: 'array', items: TEXT };
const CONNECTIONS = objectOf({ active: COUNT, idle: COUNT, total: COUNT });
const HITS = { hits: COUNT, misses: COUNT, hitRate: TEXT };
const LINK: Schema = { type: 'string', enum: ['connected', 'disconnected', 'disabled'] };
/** The headers of every answer that describe the answer itself. */
const HEADERS = {
  'X-A2A-Protocol': { description: 'Always 1.0.', required: true, schema: TEXT },
  'X-Response-Time': { description: 'How long the answer took to make.', required: true, schema: TEXT },
};

/** The base-server interface of an agent for a document; with `/metrics` if the host measures. */
export function describedBaseServer(endpoint: BindingContext, isMeasured: boolean): Describe {
  return (components) => {
    const get = (
      { name, tag = CORE, summary }: NamedEndpoint,
      schema: Schema,
      others: Readonly<Record<string, DescribedAnswer>> = {},
    ): PathItem => ({
      get: operation(
        { name, tag, summary },
        { 200: jsonOf('What is asked for', schema), 500: jsonOf('The server failed', failure), ...others },
      ),
    });
    const failure = errorBodySchema(components);
    const lists = {
      defaultInputModes: TEXTS,
      defaultOutputModes: TEXTS,
      skills: { type: 'array', items: { type: 'object' } },
    };
    const card = objectOf({
      name: TEXT,
      version: TEXT,
      description: TEXT,
      protocolVersion: TEXT,
      url: TEXT,
      ...lists,
      capabilities: { type: 'object' },
    });
    const memory = objectOf({ rss: COUNT, heapUsed: COUNT, heapTotal: COUNT });
    const health = objectOf({
      status: { const: 'healthy' },
      agent: objectOf({ name: TEXT, status: TEXT, uptime: COUNT }),
      server: { type: 'object', required: ['uptime'], properties: { uptime: COUNT, memory, pid: COUNT } },
      cache: objectOf({ status: LINK, health: TEXT, connections: CONNECTIONS, stats: objectOf(HITS) }),
      timestamp: TIME,
    });
    const unhealthy = objectOf({ error: TEXT, status: { const: 'unhealthy' }, timestamp: TIME });
    const info = objectOf({
      server: TEXT,
      version: TEXT,
      agent: TEXT,
      port: { type: ['integer', 'null'] },
      protocol: TEXT,
      features: objectOf({ redis_cache: FLAG, compression: FLAG, cache_warmup: FLAG }),
      endpoints: objectOf({ core: TEXTS, cache: TEXTS, monitoring: TEXTS }),
      uptime: COUNT,
      timestamp: TIME,
    });
    const stats = objectOf({
      cache: objectOf({ ...HITS, operations: COUNT }),
      redis: objectOf({ status: LINK, connections: CONNECTIONS }),
      timestamp: TIME,
    });
    const calls = describedCalls({ endpoint, tag: CORE.name, name: 'baseServer', components }, HEADERS);
    return {
      tags: [CORE, MONITORING, CACHE],
      paths: {
        '/discover': get({ name: 'discover', summary: 'Read the agent card' }, card),
        '/agent.json': get({ name: 'agentJson', summary: 'Read the agent card' }, card),
        ...calls,
        '/health': get(
          { name: 'health', summary: 'Read the health of the agent' },
          { ...components.add('HealthResponse', health) },
          { 500: jsonOf('The agent or its storage fails', unhealthy) },
        ),
        '/info': get({ name: 'info', tag: MONITORING, summary: 'Read what the server is' }, info),
        '/cache/stats': get({ name: 'cacheStats', tag: CACHE, summary: 'Read the figures of the cache' }, stats),
        '/cache/invalidate': invalidation(components),
        '/cache/warmup': warmup(components),
        ...(isMeasured && describedMetrics(MONITORING)(components).paths),
      },
    };
  };
}

function invalidation(components: Components): PathItem {
  const pattern = { type: 'string', minLength: 1, maxLength: 1024, examples: ['discover:*'] };
  const content = { 'application/json': { schema: objectOf({ pattern }) } };
  const dropped = objectOf({ success: FLAG, pattern: TEXT, invalidated: COUNT, timestamp: TIME });
  const message = { type: 'string', description: 'Only if nothing was dropped.' };
  const done = { ...dropped, properties: { ...(dropped.properties as Schema), message } };
  const refused = jsonOf('The request is wrong', errorBodySchema(components));
  const responses = { ...changes(components, done), 400: refused, 413: refused, 415: refused };
  return {
    post: {
      ...operation({ name: 'invalidateCache', tag: CACHE, summary: 'Drop cached answers' }, responses),
      requestBody: { required: true, content },
    },
  };
}

function warmup(components: Components): PathItem {
  const done = objectOf({ success: FLAG, warmed: COUNT, timestamp: TIME });
  return {
    post: operation(
      { name: 'warmCache', tag: CACHE, summary: 'Make the cached answers before callers ask for them' },
      changes(components, done),
    ),
  };
}

/** The answers to a change of the cache. Without authentication only programs on the same machine may change it. */
function changes(components: Components, done: Schema): Readonly<Record<string, DescribedAnswer>> {
  const refused = jsonOf('The caller may not do this', errorBodySchema(components));
  return {
    200: jsonOf('Done', done),
    401: refused,
    403: refused,
    503: jsonOf('The cache cannot be reached now', done),
  };
}

interface NamedEndpoint {
  readonly name: string;
  readonly tag?: Tag;
  readonly summary: string;
}

function operation(
  { name, tag = CORE, summary }: NamedEndpoint,
  responses: Readonly<Record<string, DescribedAnswer>>,
): DescribedOperation {
  const answers = Object.entries(responses).map(
    ([status, answer]) => [status, { ...answer, headers: HEADERS }] as const,
  );
  return { operationId: `baseServer_${name}`, tags: [tag.name], summary, responses: Object.fromEntries(answers) };
}

/** The two JSON-RPC endpoints. */
function describedCalls(
  agent: Omit<DescribedAgent, 'languages' | 'path'>,
  headers: DescribedDialect['headers'],
): Paths {
  const text = { type: 'string' };
  const errorData = { type: 'object', required: ['timestamp'], properties: { taskId: text, timestamp: text } };
  const card = { ...agent.endpoint.card, supportedInterfaces: [] };
  const endpoint: BindingContext = { ...agent.endpoint, card };
  const { jsonRpc: schemas } = PROTOCOL_SCHEMAS['0.2.5'];
  const paths = CALL_PATHS.map((path) => {
    const languages = [{ codec: codecAt(path), schemas }];
    return [path, jsonRpcPath({ ...agent, endpoint, languages, path }, { errorData, headers })] as const;
  });
  return Object.fromEntries(paths);
}
