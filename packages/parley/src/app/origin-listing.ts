import type { ExchangeResponse } from '../bindings/http/exchange.js';
import type { AgentMount } from './agent-mount.js';
import { jsonAnswer } from './json-answer.js';
import { unavailableAnswer } from './openapi/described-answers.js';
import type { Describe } from './openapi/server-document.js';

const SERVER = 'Server';

/** The answer to `GET /`: the agents of this server and the addresses of their cards. */
export function originListing(mounts: readonly AgentMount[], base: string): ExchangeResponse {
  const agents = mounts.map((mount) => {
    const { name, description, supportedInterfaces } = mount.card(base);
    const interfaces = supportedInterfaces.map(
      ({ protocolBinding, protocolVersion, url }) => `${protocolBinding} ${protocolVersion} ${url}`,
    );
    return { name, description, agentCard: `${base}${mount.cardPath}`, interfaces };
  });
  return jsonAnswer({ status: 200, value: { protocol: 'Agent2Agent (A2A)', agents } });
}

/** The listing for a document. */
export const describedListing: Describe = (components) => {
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
