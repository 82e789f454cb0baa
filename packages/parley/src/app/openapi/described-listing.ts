import { unavailableAnswer } from './described-answers.js';
import type { Describe } from './server-document.js';

const SERVER = 'Server';

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
