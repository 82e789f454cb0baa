// Agents of the OpenAI Agents SDK. Usage: killed-openai-server.mjs DATABASE_URL JOURNAL PORT
import { appendFileSync, existsSync } from 'node:fs';
import { Agent, tool } from '@openai/agents';
import {
  assistantMessage,
  functionCall,
  modelResponder,
  modelStreamResponder,
  ScriptedModel,
} from '@openai/agents/testing';
import { createA2AHost } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { openAIAgent } from 'parley-a2a-openai-agents';
import { z } from 'zod';

const [, , database, journal, port] = process.argv;
const isFirst = !existsSync(journal);
const note = (text) => appendFileSync(journal, `${text} ${process.pid}\n`);

/** The tools of an agent. They write their runs into the journal. Those that hang do so in the first process. */
const tools = (path, hanging, approved = []) =>
  ['reserve', 'pay', 'print'].map((name) =>
    tool({
      name,
      description: name,
      parameters: z.object({}),
      needsApproval: approved.includes(name),
      execute: () => {
        note(`${path} ${name}`);
        return isFirst && name === hanging ? new Promise(() => {}) : `${name} is done`;
      },
    }),
  );
/** Writes a text, and calls a tool. */
const step = (text, name, id) =>
  modelStreamResponder(async function* () {
    yield { type: 'response_started' };
    yield { type: 'output_text_delta', delta: text };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const output = [assistantMessage(text), functionCall(name, {}, { callId: id })];
    yield { type: 'response_done', response: { id, usage, output } };
  });
const calls = (...names) => names.map((name, at) => functionCall(name, {}, { callId: `${name}-${at}` }));
/** Says the results of the calls of the conversation, by their tools. */
const told = modelResponder(({ request: { input } }) => [
  assistantMessage(
    (typeof input === 'string' ? [] : input)
      .flatMap((item) => (item.type === 'function_call_result' ? [`${item.name}: ${textOf(item.output)}`] : []))
      .join('; '),
  ),
]);
const textOf = (output) => (typeof output === 'string' ? output : output.text);
const model = (first, later) => new ScriptedModel(isFirst ? first : later);

const shop = new Agent({
  name: 'Shop',
  tools: tools('shop', 'print', ['pay']),
  model: model(
    [step('One.', 'reserve', 'c1'), step('Two.', 'pay', 'c2'), step('Three, lost.', 'print', 'c3')],
    [step('Three.', 'print', 'c3'), [assistantMessage('Done.')]],
  ),
});
const once = (path, first, ...approved) =>
  new Agent({ name: path, tools: tools(path, 'pay', approved), model: model(first, [told]) });
const expert = new Agent({
  name: 'Expert',
  model: model([[assistantMessage('I know.')]], [[assistantMessage('Still I.')]]),
});
const desk = new Agent({
  name: 'Desk',
  handoffs: [expert],
  model: model([calls('transfer_to_Expert')], [[assistantMessage('Desk again.')]]),
});
const secretKeys = ['0123456789abcdef'.repeat(4)];
const agentOf = (agent, idempotent) => ({
  name: agent.name,
  agent: openAIAgent({ agent, resumable: true, secretKeys, ...(idempotent && { idempotent }) }),
});
const server = createA2AHost({
  agents: {
    '/shop': agentOf(shop, (name) => name === 'print'),
    '/first': agentOf(once('first', [calls('pay')])),
    '/later': agentOf(once('later', [calls('reserve'), calls('pay')])),
    '/approved': agentOf(once('approved', [calls('pay')], 'pay')),
    '/beside': agentOf(once('beside', [calls('reserve', 'pay')])),
    '/desk': agentOf(desk),
  },
  storage: await openStorage(database),
});
const { url } = await server.listen(Number(port));
process.stdout.write(`${url}\n`);
