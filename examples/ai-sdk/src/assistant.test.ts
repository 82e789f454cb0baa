import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { connect, textOf } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { afterEach, expect, it } from 'vitest';
import { assistant } from './assistant.js';

type Answer = Awaited<ReturnType<MockLanguageModelV4['doStream']>>;
type Part = Answer['stream'] extends ReadableStream<infer T> ? T : never;

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 7, text: 7, reasoning: undefined },
};

/** The stream of a model that sends these parts and stops. */
function answer(unified: 'stop' | 'tool-calls', ...parts: readonly Part[]): Answer {
  const end: Part = { type: 'finish', finishReason: { unified, raw: unified }, usage };
  return { stream: convertArrayToReadableStream([{ type: 'stream-start', warnings: [] }, ...parts, end]) };
}

function says(text: string): readonly Part[] {
  return [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: text },
    { type: 'text-end', id: 't' },
  ];
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function served(...answers: readonly Answer[]) {
  const model = new MockLanguageModelV4({ doStream: [...answers] });
  const server = createA2AServer({ agent: assistant(model), logger: { debug() {}, info() {}, warn() {}, error() {} } });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  return { model, client: await connect(url) };
}

it('answers, and remembers the conversation', async () => {
  const { model, client } = await served(answer('stop', ...says('Hello Ada')), answer('stop', ...says('Ada')));
  const first = await client.sendMessage('I am Ada');
  if (first.task === undefined) throw new Error('no task');
  expect(textOf(first.task)).toBe('Hello Ada');
  await client.sendMessage({ message: { parts: [{ text: 'Who am I?' }], contextId: first.task.contextId ?? '' } });
  expect(model.doStreamCalls[1]?.prompt).toMatchObject([
    { role: 'system' },
    { role: 'user', content: [{ text: 'I am Ada' }] },
    { role: 'assistant', content: [{ text: 'Hello Ada' }] },
    { role: 'user', content: [{ text: 'Who am I?' }] },
  ]);
});

it('asks for the time', async () => {
  const call: Part = { type: 'tool-call', toolCallId: 'c1', toolName: 'currentTime', input: '{}' };
  const { model, client } = await served(answer('tool-calls', call), answer('stop', ...says('It is late')));
  const sent = await client.sendMessage('What time is it?');
  expect(sent.task?.artifacts?.map(({ name }) => name)).toEqual(['Tool calls', 'response']);
  expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toMatch(/20\d\d-\d\d-\d\dT/);
});
