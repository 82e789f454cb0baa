import { type ProjectTemplate, SERVED_SCRIPTS } from '../project-template.js';

/** The agent of the simplest project. */
export const SHOUTER = `import type { AgentOptions, RequestContext } from 'parley-a2a/server';

/** The agent of this project. Change its answers and its card here. */
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

/** The test of that agent. */
export const SHOUTER_TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAllProtocolInvariants, runAgent } from 'parley-a2a-testing';
import { agent } from './agent.ts';

test('shouts', async () => {
  const run = await runAgent(agent, 'hello world');
  assert.equal(run.text, 'HELLO WORLD ');
  assertAllProtocolInvariants(run.events, { finalState: 'TASK_STATE_COMPLETED' });
});
`;

/** One function, served by the command line. */
export const minimal: ProjectTemplate = {
  summary: 'One function, served by the command line.',
  message: 'hello',
  files: { 'agent.ts': SHOUTER, 'agent.test.ts': SHOUTER_TEST },
  scripts: SERVED_SCRIPTS,
};
