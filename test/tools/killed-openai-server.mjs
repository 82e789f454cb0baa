// An agent of the OpenAI Agents SDK. Usage: killed-openai-server.mjs DATABASE_URL JOURNAL PORT
import { appendFileSync } from 'node:fs';
import { Agent, tool } from '@openai/agents';
import { assistantMessage, functionCall, modelStreamResponder, ScriptedModel } from '@openai/agents/testing';
import { createA2AServer } from 'parley-a2a/node';
import { openAIAgent } from 'parley-a2a/openai-agents';
import { openStorage } from 'parley-a2a/storage';
import { z } from 'zod';

const [, , database, journal, port = '0'] = process.argv;
const isFirst = port === '0';
const note = (text) => appendFileSync(journal, `${text} ${process.pid}\n`);

const reserve = tool({
  name: 'reserve',
  description: 'Reserves',
  parameters: z.object({}),
  execute: () => {
    note('reserve');
    return 'reserved';
  },
});
const pay = tool({
  name: 'pay',
  description: 'Pays',
  parameters: z.object({}),
  needsApproval: true,
  execute: () => {
    note('pay');
    return 'paid';
  },
});
const print = tool({
  name: 'print',
  description: 'Prints',
  parameters: z.object({}),
  execute: () => {
    note('print');
    return isFirst ? new Promise(() => {}) : 'printed';
  },
});
/** Writes a text, and calls a tool. */
const step = (text, name, id) =>
  modelStreamResponder(async function* () {
    yield { type: 'response_started' };
    yield { type: 'output_text_delta', delta: text };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const output = [assistantMessage(text), functionCall(name, {}, { callId: id })];
    yield { type: 'response_done', response: { id, usage, output } };
  });
const steps = isFirst
  ? [step('One.', 'reserve', 'c1'), step('Two.', 'pay', 'c2'), step('Three, lost.', 'print', 'c3')]
  : [step('Three.', 'print', 'c3'), [assistantMessage('Done.')]];
const model = new ScriptedModel(steps);
const agent = openAIAgent({
  agent: new Agent({ name: 'Shop', tools: [reserve, pay, print], model }),
  resumable: true,
  secretKeys: ['0123456789abcdef'.repeat(4)],
});
const server = createA2AServer({ agent, storage: await openStorage(database) });
const { url } = await server.listen(Number(port));
process.stdout.write(`${url}\n`);
