import type { AgentPart } from '../part.js';

const AGENT = `import type { AgentOptions } from 'parley-a2a/server';
import { streamTextAgent } from 'parley-a2a-ai-sdk';
import { model } from './model.ts';

/** The agent and its card. */
export const agent: AgentOptions = {
  name: 'Assistant',
  description: 'Answers in one sentence.',
  skills: [{ id: 'answer', name: 'Answer', description: 'A short answer.', tags: ['text'], examples: ['hello'] }],
  agent: streamTextAgent({ model, instructions: 'Answer in one sentence.' }),
};
`;

const MODEL = `import type { LanguageModel } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';

/** Answers without a key and without a network, for tests and for a first try. */
const practice = new MockLanguageModelV4({
  doStream: async () => ({
    stream: convertArrayToReadableStream([
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'I am a practice model. ' },
      { type: 'text-delta', id: '1', delta: 'Set AI_GATEWAY_API_KEY for a real one.' },
      { type: 'text-end', id: '1' },
      {
        type: 'finish',
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
      },
    ]),
  }),
});

const { AI_GATEWAY_API_KEY, MODEL = 'anthropic/claude-sonnet-4.5' } = process.env;

/** A model of the AI gateway by its name. A provider of the AI SDK works as well. */
export const model: LanguageModel = AI_GATEWAY_API_KEY === undefined ? practice : MODEL;
`;

const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAllProtocolInvariants, runAgent } from 'parley-a2a-testing';

delete process.env.AI_GATEWAY_API_KEY;
const { agent } = await import('./agent.ts');

test('answers with the text of the model', async () => {
  const run = await runAgent(agent, 'hello');
  assert.match(run.text, /practice model/);
  assertAllProtocolInvariants(run.events, { finalState: 'TASK_STATE_COMPLETED' });
});
`;

/** A model of the AI SDK. */
export const aiSdk: AgentPart = {
  summary: 'An agent on a model of the AI SDK.',
  message: 'hello',
  files: { 'agent.ts': AGENT, 'model.ts': MODEL, 'agent.test.ts': TEST },
  packages: ['parley-a2a-ai-sdk'],
  variables: [
    { name: 'AI_GATEWAY_API_KEY', meaning: 'key of the AI gateway; without it, a practice model answers' },
    { name: 'MODEL', meaning: 'model of the gateway', example: 'anthropic/claude-sonnet-4.5' },
  ],
  dependencies: { '@ai-sdk/provider': '^4.0.0', ai: '^7.0.0' },
};
