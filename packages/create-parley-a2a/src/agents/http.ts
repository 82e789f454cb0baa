import type { AgentPart } from '../part.js';

const AGENT = `import type { AgentOptions, RequestContext } from 'parley-a2a/server';
import { search } from './api.ts';

/** The agent and its card. */
export const agent: AgentOptions = {
  name: 'Search',
  description: 'Answers with the results of the search API.',
  skills: [{ id: 'search', name: 'Search', description: 'Finds titles.', tags: ['search'], examples: ['tea'] }],
  agent: async (prompt: string, { signal }: RequestContext) => {
    const titles = await search(prompt, signal);
    return titles.length === 0 ? 'Nothing was found.' : titles.join('\\n');
  },
};
`;

const API = `const { API_URL, API_TOKEN } = process.env;

/** Asks the API for titles. Without API_URL, two titles stand in for its answer. */
export async function search(query: string, signal: AbortSignal): Promise<readonly string[]> {
  if (API_URL === undefined) return [\`\${query}: a first title\`, \`\${query}: a second title\`];
  const url = new URL('search', API_URL);
  url.searchParams.set('q', query);
  const headers = new Headers({ accept: 'application/json' });
  if (API_TOKEN !== undefined) headers.set('authorization', \`Bearer \${API_TOKEN}\`);
  const response = await fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(30_000)]) });
  if (!response.ok) throw new Error(\`\${url.origin} answered \${response.status}\`);
  const { titles } = (await response.json()) as { titles: string[] };
  return titles;
}
`;

const TEST = `import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { assertAllProtocolInvariants, runAgent } from 'parley-a2a-testing';

const api = createServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://localhost').searchParams.get('q');
  response.statusCode = query === 'broken' ? 500 : 200;
  response.end(JSON.stringify({ titles: [\`All about \${query}\`] }));
});
await once(api.listen(0, '127.0.0.1'), 'listening');
after(() => api.close());
process.env.API_URL = \`http://127.0.0.1:\${(api.address() as AddressInfo).port}\`;
const { agent } = await import('./agent.ts');

test('answers with the titles of the API', async () => {
  const run = await runAgent(agent, 'tea');
  assert.equal(run.text, 'All about tea');
  assertAllProtocolInvariants(run.events, { finalState: 'TASK_STATE_COMPLETED' });
});

test('fails with the API, and does not tell callers why', async () => {
  const run = await runAgent(agent, 'broken');
  assert.equal(run.task?.status.state, 'TASK_STATE_FAILED');
  assert.match(String(run.error), /answered 500/);
});
`;

/** An HTTP API that exists already. */
export const http: AgentPart = {
  summary: 'An agent in front of an HTTP API.',
  message: 'tea',
  files: { 'agent.ts': AGENT, 'api.ts': API, 'agent.test.ts': TEST },
  variables: [
    {
      name: 'API_URL',
      meaning: 'base URL of the API; without it, made-up titles answer',
      example: 'https://api.example.com/',
    },
    { name: 'API_TOKEN', meaning: 'bearer token for the API' },
  ],
};
