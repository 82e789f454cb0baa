import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { agentCalls } from '../../../packages/parley/src/exports/agent-calls.js';
import { fileTransfer, memoryFileStore } from '../../../packages/parley/src/exports/files.js';
import { agentSchemas } from '../../../packages/parley/src/exports/schemas.js';
import { defineTool, jsonSchema, ToolRegistry, toolAgent } from '../../../packages/parley/src/exports/tools.js';
import type { EventQueue } from '../../../packages/parley/src/server/event-queue.js';
import type { RequestContext } from '../../../packages/parley/src/server/request-context.js';

/** The path of the agent that uses all kits. */
export const KIT_PATH = '/kit';
/** Larger raw parts become files, in bytes. */
export const INLINE_BYTES = 10_000;

const order = defineTool({
  name: 'order',
  input: z.object({ title: z.string() }),
  needsApproval: true,
  run: ({ title }) => ({ ordered: title }),
});
const room = defineTool({
  name: 'room',
  input: jsonSchema<{ city: string }>({ type: 'object', required: ['city'] }),
  run: ({ city }, { ask }) => {
    const nights = { type: 'integer', minimum: 1 };
    const schema = { type: 'object', properties: { nights }, required: ['nights'] };
    const answer = ask?.({ message: `How many nights in ${city}?`, schema });
    return answer?.action === 'accept' ? `${answer.content?.nights} nights in ${city}` : `no room in ${city}`;
  },
});
const stock = defineTool({
  name: 'stock',
  input: z.object({ title: z.string() }),
  output: z.number(),
  idempotent: true,
  run: ({ title }) => title.length,
});
const slow = defineTool({
  name: 'slow',
  input: z.string(),
  run: async (text) => {
    await delay(1);
    return text;
  },
});
const hold = defineTool({ name: 'hold', input: z.string(), run: () => new Promise<never>(() => {}) });
const tools = new ToolRegistry([order, room, stock, slow, hold]);

/** Tells the conversation of the context, the oldest entry first. */
async function remember(context: RequestContext, events: EventQueue): Promise<void> {
  const entries = await context.conversation();
  const known = new Map([...new Set(entries.map(({ taskId }) => taskId))].map((id, at) => [id, at]));
  await events.artifact(entries.map(({ role, text, taskId }) => `${known.get(taskId)} ${role}: ${text}`).join('\n'));
  await events.complete(`${entries.length} entries`);
}

/** Counts the bytes of the files of the message, and writes a file of as many bytes. */
async function measure(context: RequestContext, events: EventQueue): Promise<void> {
  let bytes = 0;
  for (const part of context.message.parts) {
    if (!(part.url !== undefined || part.raw !== undefined)) continue;
    for await (const chunk of (await context.files.open(part)).chunks) bytes += chunk.length;
  }
  const raw = Buffer.alloc(bytes, 'y').toString('base64');
  await events.artifact([{ raw, filename: 'copy.txt', mediaType: 'text/plain' }]);
  await events.complete(`${bytes} bytes`);
}

/** The first word of a message decides: the name of a branch below, or `call` with the url. */
export const kitAgent = toolAgent(tools, async (run, { context, events }) => {
  const [verb, subject = ''] = run.text.split(' ');
  if (verb === 'remember') return remember(context, events);
  if (verb === 'measure') return measure(context, events);
  if (verb === 'buy') {
    await run.call(stock, { title: subject });
    return events.complete(JSON.stringify(await run.call(order, { title: subject })));
  }
  if (verb === 'stay') return events.complete(String(await run.call(room, { city: subject })));
  if (verb === 'count') return events.complete(`${await run.call(slow, subject)}`);
  if (verb === 'hold') return events.complete(`${await run.call(hold, subject)}`);
  if (verb === 'wonder') {
    const ordered = await run.call(order, { title: subject }).catch(() => undefined);
    return ordered === undefined ? events.inputRequired('In which color?') : events.complete(JSON.stringify(ordered));
  }
  if (verb !== 'call') return events.complete('nothing to do');
  const answer = await context.callAgent(subject, 'streaming', { into: events });
  await events.complete(answer.task !== undefined ? answer.task.status.state : 'no task');
});

/** The extensions of a host with this agent. Their part for other agents changes none of their answers. */
export const kitExtensions = () => ({
  files: fileTransfer({ store: memoryFileStore(), inlineBytes: INLINE_BYTES }),
  calls: agentCalls({ allow: ['127.0.0.1'] }),
  schemas: agentSchemas({
    agent: KIT_PATH,
    input: { type: 'object', properties: { city: { type: 'string', maxLength: 100 } } },
  }),
});
