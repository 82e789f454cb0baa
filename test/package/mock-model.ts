import type { LanguageModel } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';

type Call = Parameters<MockLanguageModelV4['doStream']>[0];
type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type Part = Streamed extends ReadableStream<infer One> ? One : never;

const finish = (unified: 'stop' | 'tool-calls'): Part => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
});

const say = (delta: string): Part[] => [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta },
  { type: 'text-end', id: '1' },
  finish('stop'),
];

const call = (toolCallId: string, toolName: string, input: object): Part[] => [
  { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) },
  finish('tool-calls'),
];

/** Answers as a model that refunds orders, and remembers the conversation. */
function answer({ prompt }: Call): Part[] {
  const last = prompt.at(-1);
  const result = last?.role === 'tool' ? last.content.at(-1) : undefined;
  const said = prompt
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .map((part) => (part.type === 'text' ? part.text : ''));
  const number = said.flatMap((text) => /order (\d+)/.exec(text)?.[1] ?? []).at(-1);
  if (result?.type === 'tool-result' && result.toolName === 'order') return call('2', 'refund', { number, euros: 80 });
  if (result?.type === 'tool-result') return say('80 euros are on their way.');
  if (number === undefined) return say('I am a practice model.');
  return said.at(-1)?.includes('refund') ? call('1', 'order', { number }) : say(`You asked about order ${number}.`);
}

/** The model of the guide, in the place of one with a key. */
export const model: LanguageModel = new MockLanguageModelV4({
  doStream: async (options) => ({ stream: convertArrayToReadableStream(answer(options)) }),
});
