import type { Exchange } from '../../bindings/http/exchange.js';
import type { HostView } from '../host-extension.js';
import { simplestFirst } from '../landing-page.js';
import { describedMetrics } from '../observability/metrics-endpoint.js';
import { jsonOf, OPERATING, unavailableAnswer } from './described-answers.js';
import { describedMount } from './described-mount.js';
import { openApiEndpoints } from './openapi-endpoints.js';
import { withHostSecurity } from './protected-endpoints.js';
import type { Describe } from './server-document.js';

/** The description of a host, by path. `openApiExtension` loads it. The first group that describes a path wins. */
export async function hostDescription(host: HostView): Promise<ReadonlyMap<string, Exchange>> {
  const extensions = await Promise.all(host.extensions.map(({ describe }) => describe?.(host)));
  const ofHost = (describe: Describe) => withHostSecurity(describe, host.authenticatorsAt);
  const describers = [
    ofHost(describedListing),
    ...simplestFirst(host.mounts).map(describedMount),
    ...extensions.filter((describe) => describe !== undefined).map(ofHost),
    ofHost(describedDocuments),
    ...(host.serves('/healthz') ? [ofHost(describedHealth)] : []),
    ...(host.metrics === undefined ? [] : [ofHost(describedMetrics())]),
  ];
  return openApiEndpoints({ describers, baseUrl: host.baseUrl });
}

const SERVER = 'Server';

/** The listing for a document. */
const describedListing: Describe = (components) => {
  const text = { type: 'string' };
  const agent = {
    type: 'object',
    required: ['name', 'description', 'agentCard', 'interfaces'],
    properties: { name: text, description: text, agentCard: text, interfaces: { type: 'array', items: text } },
    additionalProperties: false,
  };
  const schema = {
    type: 'object',
    required: ['protocol', 'agents'],
    properties: { protocol: text, agents: { type: 'array', items: agent } },
    additionalProperties: false,
  };
  const get = {
    operationId: 'listAgents',
    tags: [SERVER],
    summary: 'List the agents of this server',
    responses: {
      200: { description: 'The agents and where they are', content: { 'application/json': { schema } } },
      503: unavailableAnswer(components),
    },
  };
  return { tags: [{ name: SERVER, description: 'What the server says of itself.' }], paths: { '/': { get } } };
};

/** The documents about the server, for a document. */
const describedDocuments: Describe = () => {
  const get = (operationId: string, summary: string) => ({ operationId, summary, tags: [OPERATING.name] });
  const document = { type: 'object', required: ['openapi', 'info', 'paths'] };
  const page = { description: 'The page', content: { 'text/html': { schema: { type: 'string' } } } };
  const described = jsonOf('The document', document);
  return {
    tags: [OPERATING],
    paths: {
      '/openapi.json': {
        get: { ...get('readOpenApi', 'Read this document'), responses: { 200: described } },
      },
      '/openapi-3.0.json': {
        get: { ...get('readOpenApi30', 'Read this document in OpenAPI 3.0'), responses: { 200: described } },
      },
      '/docs': { get: { ...get('readDocs', 'Read this document as a page'), responses: { 200: page } } },
    },
  };
};

/** The probes for a document. */
const describedHealth: Describe = () => {
  const text = { type: 'string' };
  const texts = { type: 'array', items: text };
  const state = {
    type: 'object',
    required: ['status', 'required'],
    properties: { status: { type: 'string', enum: ['ok', 'failing'] }, required: { type: 'boolean' } },
  };
  const report = {
    type: 'object',
    required: ['status', 'notReady', 'checks', 'durability', 'warnings'],
    properties: {
      status: { type: 'string', enum: ['ready', 'not ready', 'draining'] },
      notReady: texts,
      checks: { type: 'object', additionalProperties: state },
      durability: text,
      warnings: texts,
    },
  };
  const alive = { type: 'object', required: ['status'], properties: { status: { const: 'alive' } } };
  const probe = (operationId: string, summary: string) => ({ operationId, summary, tags: [OPERATING.name] });
  return {
    tags: [OPERATING],
    paths: {
      '/healthz': {
        get: { ...probe('healthz', 'Whether the process answers'), responses: { 200: jsonOf('It does', alive) } },
      },
      '/readyz': {
        get: {
          ...probe('readyz', 'Whether requests should be sent here'),
          responses: { 200: jsonOf('They should', report), 503: jsonOf('They should not, and why', report) },
        },
      },
    },
  };
};
