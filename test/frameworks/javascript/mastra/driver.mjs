// Mastra: its `A2AAgent` in both versions of the protocol, and as the subagent of another agent. A server of Mastra
// serves an agent over A2A. Models are scripted.
import { randomUUID } from 'node:crypto';
import { serve as listen } from '@hono/node-server';
import { A2AAgent } from '@mastra/core/a2a';
import { Agent } from '@mastra/core/agent';
import { noopLogger } from '@mastra/core/logger';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { MastraServer } from '@mastra/hono';
import { InMemoryTaskStore } from '@mastra/server/a2a/store';
import { Hono } from 'hono';
import { z } from 'zod';
import { runDriver, versionOf } from '../driver-protocol.mjs';

const contentOf = ({ prompt, file }) => [
  {
    role: 'user',
    content: [
      { type: 'text', text: prompt },
      ...(file === undefined
        ? []
        : [{ type: 'file', data: file.bytes, mediaType: file.mediaType, filename: file.name }]),
    ],
  },
];
const messageOf = (request) => (request.file === undefined ? request.prompt : contentOf(request));

const textOf = (message) => (message?.parts ?? []).map(({ text = '' }) => text).join('');

/** Files, state and failure in the task that Mastra hands out beside the text. */
function readTask(task) {
  if (task === undefined) return {};
  const parts = (task.artifacts ?? []).flatMap((artifact) => artifact.parts);
  const files = parts
    .filter(({ kind }) => kind === 'file')
    .map(({ file }) => ({ name: file.name, mediaType: file.mimeType, bytes: file.bytes, url: file.uri }));
  const { state, message } = task.status;
  return { files, state, ...(state === 'failed' && { failed: textOf(message) || true }) };
}

async function generated(calling) {
  const { text, task, finishReason, suspendPayload } = await calling;
  return {
    result: { ...readTask(task), text },
    asked: askedBy(suspendPayload),
    suspended: finishReason === 'suspended',
  };
}

async function streamed(starting) {
  const stream = await starting;
  let shown = '';
  for await (const { type, payload } of stream.fullStream) if (type === 'text-delta') shown += payload.text;
  const { result, ...rest } = await generated(stream.getResult());
  return { result: { ...result, streamed: shown }, ...rest };
}

/** The question of a task stands in what a suspended run hands out. */
const askedBy = (suspended) => textOf(suspended?.task?.status.message);

/** A way of `A2AAgent`: the first turn, and the answer to its question in the same run. */
const way = (protocolVersion, read, begin, resume) => async (request) => {
  const agent = new A2AAgent({ url: request.url, protocolVersion });
  const run = { runId: randomUUID() };
  const first = await read(agent[begin](messageOf(request), run));
  if (request.case !== 'multi-turn') return first.result;
  const second = await read(agent[resume](request.reply, run));
  if (second.suspended) throw new Error('The run is suspended after its answer too');
  return { ...second.result, question: first.asked };
};

/** A model that gives what a script yields for the last message of a prompt: texts and other parts. */
function scriptedModel(script) {
  return {
    specificationVersion: 'v2',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const content = [];
      for await (const part of script(prompt.at(-1))) content.push(...contentParts(part));
      return { content, finishReason: finishOf(content), usage: USAGE, warnings: [] };
    },
    async doStream({ prompt, abortSignal }) {
      const parts = script(prompt.at(-1), abortSignal);
      return { stream: ReadableStream.from(streamParts(parts)) };
    },
  };
}

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const finishOf = (parts) => (parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop');
const contentParts = (part) => [typeof part === 'string' ? { type: 'text', text: part } : part];

async function* streamParts(parts) {
  yield { type: 'stream-start', warnings: [] };
  let id;
  const others = [];
  for await (const part of parts) {
    if (typeof part !== 'string') {
      others.push(part);
      yield part;
      continue;
    }
    if (id === undefined) {
      id = randomUUID();
      yield { type: 'text-start', id };
    }
    yield { type: 'text-delta', id, delta: part };
  }
  if (id !== undefined) yield { type: 'text-end', id };
  yield { type: 'finish', finishReason: finishOf(others), usage: USAGE };
}

const callOf = (toolName, input) => ({
  type: 'tool-call',
  toolCallId: randomUUID(),
  toolName,
  input: JSON.stringify(input),
});

/** A model that hands each message to its subagent, and then repeats the answer. */
async function* delegating({ role, content }) {
  if (role === 'tool') yield resultText(content[0].output);
  else yield callOf('agent-remote', { prompt: content.map(({ text = '' }) => text).join('') });
}

const resultText = ({ value }) => (typeof value === 'string' ? value : JSON.stringify(value));

async function asSubagent(request) {
  const remote = new A2AAgent({ url: request.url, description: 'Answers' });
  const model = scriptedModel(delegating);
  const caller = new Agent({ id: 'caller', name: 'Caller', instructions: 'Delegate.', model, agents: { remote } });
  new Mastra({ agents: { caller }, storage: new InMemoryStore(), logger: noopLogger });
  // The subagent gets the text of its caller alone, without the conversation around it.
  const delegation = { messageFilter: () => [] };
  const first = await delegated(caller.stream(messageOf(request), { delegation }));
  if (request.case !== 'multi-turn') return first.result;
  const second = await delegated(caller.resumeStream(request.reply, { runId: first.runId, delegation }));
  return { ...second.result, question: first.asked };
}

async function delegated(starting) {
  const stream = await starting;
  let shown = '';
  let asked;
  for await (const { type, payload } of stream.fullStream) {
    if (type === 'text-delta') shown += payload.text;
    if (type === 'tool-call-suspended') asked = askedBy(payload.suspendPayload);
  }
  return { result: { text: await stream.text, streamed: shown }, asked, runId: stream.runId };
}

const ask = createTool({
  id: 'ask',
  description: 'Asks the user',
  inputSchema: z.object({}),
  suspendSchema: z.object({ message: z.string() }),
  resumeSchema: z.any(),
  async execute(_, { agent }) {
    if (agent.resumeData === undefined) return agent.suspend({ message: 'Which day?' });
    return { answer: agent.resumeData };
  },
});

/** The model of the served agent. The text of the prompt chooses what it does. */
async function* served({ role, content }, signal) {
  if (role === 'tool') {
    yield `Served: ${content[0].output.value.answer}`;
    return;
  }
  const text = content.map(({ text: part = '' }) => part).join('');
  const file = content.find(({ type }) => type === 'file');
  if (text === 'stream') yield* ['Served: ', 'one ', 'two ', 'three'];
  else if (text === 'question') yield callOf('ask', {});
  else if (text === 'wait') await new Promise((aborted) => signal?.addEventListener('abort', aborted));
  else if (text === 'file') {
    const data = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');
    yield { type: 'file', mediaType: 'application/x-served', data };
  } else if (text === 'read')
    yield `${file?.filename} ${file?.mediaType} ${Buffer.from(file?.data ?? '', 'base64').length}`;
  else if (text === 'fail') throw new Error('The oven is cold.');
  else yield `Served: ${text}`;
}

async function serve() {
  const agent = new Agent({
    id: 'served',
    name: 'Served',
    instructions: 'Answer.',
    model: scriptedModel(served),
    tools: { ask },
  });
  const mastra = new Mastra({ agents: { served: agent }, storage: new InMemoryStore(), logger: noopLogger });
  const app = new Hono();
  await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() }).init();
  const { port } = await new Promise((listening) => {
    listen({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, listening);
  });
  return `http://127.0.0.1:${port}/api/.well-known/served/agent-card.json`;
}

await runDriver({
  version: versionOf('@mastra/core', import.meta.url),
  ways: {
    generate: way('0.3', generated, 'generate', 'resumeGenerate'),
    stream: way('0.3', streamed, 'stream', 'resumeStream'),
    'generate-1.0': way('1.0', generated, 'generate', 'resumeGenerate'),
    'stream-1.0': way('1.0', streamed, 'stream', 'resumeStream'),
    subagent: asSubagent,
  },
  serve,
});
