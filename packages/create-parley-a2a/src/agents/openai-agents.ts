import type { AgentPart } from '../part.js';

const AGENT = `import { Agent } from '@openai/agents';
import type { AgentOptions } from 'parley-a2a/server';
import { openAIAgent } from 'parley-a2a-openai-agents';
import { model } from './model.ts';

const assistant = new Agent({ name: 'Assistant', instructions: 'Answer in one sentence.', model });

/** The agent and its card. */
export const agent: AgentOptions = {
  name: 'Assistant',
  description: 'Answers in one sentence.',
  skills: [{ id: 'answer', name: 'Answer', description: 'A short answer.', tags: ['text'], examples: ['hello'] }],
  agent: openAIAgent({ agent: assistant }),
};
`;

const MODEL = `import type { Model } from '@openai/agents';
import { assistantMessage, ScriptedModel } from '@openai/agents/testing';

/** Answers without a key and without a network, for tests and for a first try. */
const practice: Pick<Model, 'getResponse' | 'getStreamedResponse'> = {
  getResponse: (request) => answer().getResponse(request),
  getStreamedResponse: (request) => answer().getStreamedResponse(request),
};

function answer(): Model {
  return new ScriptedModel([[assistantMessage('I am a practice model. Set OPENAI_API_KEY for a real one.')]]);
}

const { OPENAI_API_KEY, MODEL = 'gpt-5-mini' } = process.env;

/** A model of OpenAI by its name. */
export const model: string | Model = OPENAI_API_KEY === undefined ? practice : MODEL;
`;

const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAllProtocolInvariants, runAgent } from 'parley-a2a-testing';

delete process.env.OPENAI_API_KEY;
const { agent } = await import('./agent.ts');

test('answers with the text of the model', async () => {
  const run = await runAgent(agent, 'hello');
  assert.match(run.text, /practice model/);
  assertAllProtocolInvariants(run.events, { finalState: 'TASK_STATE_COMPLETED' });
});
`;

/** An agent of the OpenAI Agents SDK. */
export const openAIAgents: AgentPart = {
  summary: 'An agent of the OpenAI Agents SDK.',
  message: 'hello',
  files: { 'agent.ts': AGENT, 'model.ts': MODEL, 'agent.test.ts': TEST },
  packages: ['parley-a2a-openai-agents'],
  variables: [
    { name: 'OPENAI_API_KEY', meaning: 'key of OpenAI; without it, a practice model answers' },
    { name: 'MODEL', meaning: 'model of OpenAI', example: 'gpt-5-mini' },
  ],
  dependencies: { '@openai/agents': '^0.20.0', zod: '^4.0.0' },
};
