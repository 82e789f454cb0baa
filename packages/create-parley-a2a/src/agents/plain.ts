import type { AgentPart } from '../part.js';

const AGENT = `import type { AgentOptions, RequestContext } from 'parley-a2a/server';

/** The agent and its card. */
export const agent: AgentOptions = {
  name: 'Shouter',
  description: 'Says it again, louder.',
  skills: [{ id: 'shout', name: 'Shout', description: 'Upper case.', tags: ['text'], examples: ['hello'] }],
  agent: async function* (prompt: string, context: RequestContext) {
    for (const word of prompt.split(' ')) {
      if (context.signal.aborted) return;
      yield \`\${word.toUpperCase()} \`;
    }
  },
};
`;

const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAllProtocolInvariants, runAgent } from 'parley-a2a-testing';
import { agent } from './agent.ts';

test('shouts', async () => {
  const run = await runAgent(agent, 'hello world');
  assert.equal(run.text, 'HELLO WORLD ');
  assertAllProtocolInvariants(run.events, { finalState: 'TASK_STATE_COMPLETED' });
});
`;

/** One function. */
export const plain: AgentPart = {
  summary: 'An agent in one function.',
  message: 'hello',
  files: { 'agent.ts': AGENT, 'agent.test.ts': TEST },
};
