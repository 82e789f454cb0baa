// A model with two tool calls and three steps, or with one call that needs an approval.
// Usage: ai-sdk-server.mjs FOLDER TOOLS [N: dies at its Nth moment]
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createA2AServer } from 'parley-a2a/node';
import { openStorage } from 'parley-a2a/storage';
import { defineTool, jsonSchema as schemaOf, ToolRegistry } from 'parley-a2a/tools';
import { streamTextAgent } from 'parley-a2a-ai-sdk';

const [, , folder, kind, dies = '0'] = process.argv;
const needsApproval = kind.endsWith('-approval');
const nights = needsApproval ? 1 : 2;
let moments = 0;

/** A point at which the process may die. The pause lets earlier events be stored often. */
async function moment() {
  await after(5);
  moments += 1;
  if (moments === Number(dies)) process.kill(process.pid, 'SIGKILL');
}

/** The effect of a tool, which a test counts. */
async function book({ night }) {
  await moment();
  appendFileSync(join(folder, 'effects'), `${night}\n`);
  await moment();
  if (kind.startsWith('throwing')) throw new Error('pl4nted-s3cret-key is not valid');
  return { booked: night };
}

const inputSchema = { type: 'object', properties: { night: { type: 'integer' } }, required: ['night'] };
const description = 'Books a night';
const tools = kind.startsWith('registry')
  ? new ToolRegistry([
      defineTool({ name: 'book', description, input: schemaOf(inputSchema), needsApproval, run: book }),
    ])
  : { book: tool({ description, inputSchema: jsonSchema(inputSchema), needsApproval, execute: book }) };

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** The next step depends on the results in the prompt, as with a real model. */
async function* partsOf(prompt) {
  const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  const booked = results.filter(({ output }) => output.type === 'json').map(({ output }) => output.value.booked);
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 't' };
  const isLast = results.length >= nights;
  const words = isLast
    ? ['Done: ', `${booked.join('+')}, `, `${results.length} calls.`]
    : ['Step ', `${results.length}`, '.'];
  for (const delta of words) {
    yield { type: 'text-delta', id: 't', delta };
    await moment();
  }
  yield { type: 'text-end', id: 't' };
  if (!isLast) {
    const input = JSON.stringify({ night: results.length + 1 });
    yield { type: 'tool-call', toolCallId: crypto.randomUUID(), toolName: 'book', input };
  }
  const reason = isLast ? 'stop' : 'tool-calls';
  yield { type: 'finish', finishReason: { unified: reason, raw: reason }, usage };
}

const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => ({ stream: ReadableStream.from(partsOf(prompt)) }),
});
const storage = await openStorage(`sqlite:${join(folder, 'tasks.db')}`);
/** The turn has begun, and its message is stored. */
async function settings() {
  if (needsApproval) await moment();
  return { model, tools };
}
const agent = streamTextAgent(settings, { resumable: true });
const server = createA2AServer({ agent, name: 'Booking', storage });
const { url } = await server.listen(0);
process.stdout.write(`${url}\n`);
