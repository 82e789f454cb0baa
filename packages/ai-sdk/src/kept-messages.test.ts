import { generateText, type ModelMessage, type ToolResultPart } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { JsonValue } from 'parley-a2a';
import type { RequestContext } from 'parley-a2a/server';
import { expect, it } from 'vitest';
import { StepCheckpoints } from './step-checkpoints.js';

/** The messages as the next attempt of a turn finds them. */
async function keptMessages(messages: readonly ModelMessage[]): Promise<ModelMessage[]> {
  let stored = '';
  const saveCheckpoint = async (value: JsonValue) => {
    stored = JSON.stringify(value);
  };
  const { signal } = new AbortController();
  await new StepCheckpoints({ saveCheckpoint } as unknown as RequestContext, signal).save(0, messages);
  const checkpoint: unknown = JSON.parse(stored);
  const kept = new StepCheckpoints({ checkpoint, attempt: 2 } as RequestContext, signal).restore();
  if (kept.kind !== 'kept') throw new Error(kept.kind);
  return [...kept.messages];
}

/** The prompt that a provider gets, with its bytes in base64, as JSON. */
async function promptOf(messages: readonly ModelMessage[]): Promise<unknown> {
  const model = new MockLanguageModelV4({
    supportedUrls: { '*/*': [/.*/] },
    doGenerate: {
      content: [{ type: 'text', text: 'ok' }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    },
  });
  await generateText({ model, messages: [...messages] });
  return JSON.parse(JSON.stringify(inBase64(model.doGenerateCalls[0]?.prompt)));
}

/** Files as base64 and urls as objects of their own. All other values are JSON, which a provider sends. */
function inBase64(value: unknown, isFile = false): unknown {
  if (isFile && value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isFile && value instanceof URL) return { isUrl: value.href };
  if (Array.isArray(value)) return value.map((item) => inBase64(item));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (name === 'input' || value.type === 'json') return [name, member];
      return [name, inBase64(member, value.type === 'data' || value.type === 'url')];
    }),
  );
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

const pool = Uint8Array.from({ length: 64 }, (_, at) => at);
const url = new URL('https://files.example.org/a%20b.pdf?x=1');
const mediaType = 'application/pdf';

const user = (...content: Extract<ModelMessage, { role: 'user' }>['content'] & object): ModelMessage => ({
  role: 'user',
  content,
});
const result = (output: ToolResultPart['output'], input: unknown = {}): ModelMessage[] => [
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'read', input }] },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'read', output }] },
];

it.each<[string, readonly ModelMessage[]]>([
  ['a Buffer', [user({ type: 'file', mediaType, data: Buffer.from('%PDF-1.7') })]],
  ['a Buffer in tagged data', [user({ type: 'file', mediaType, data: { type: 'data', data: Buffer.from('%PDF') } })]],
  ['a view on a larger buffer', [user({ type: 'file', mediaType, data: pool.subarray(8, 12) })]],
  ['an ArrayBuffer', [user({ type: 'file', mediaType, data: pool.slice(8, 12).buffer })]],
  ['an image as a Buffer', [user({ type: 'image', image: Buffer.from([137, 80, 78, 71]) })]],
  ['a url', [user({ type: 'file', mediaType, data: url }, { type: 'image', image: url })]],
  ['a tagged url', [user({ type: 'file', mediaType, data: { type: 'url', url } })]],
  [
    'a reference and a text',
    [
      user(
        { type: 'file', mediaType, data: { type: 'reference', reference: { mock: 'file-1' } } },
        { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'plain' } },
      ),
    ],
  ],
  [
    'a file of the model',
    [{ role: 'assistant', content: [{ type: 'reasoning-file', mediaType: 'image/png', data: Buffer.from([1, 2]) }] }],
  ],
  [
    'a file in the result of a tool',
    result({
      type: 'content',
      value: [
        { type: 'file', mediaType, data: { type: 'data', data: Buffer.from('%PDF') } },
        { type: 'file', mediaType, data: { type: 'url', url } },
      ],
    }),
  ],
  // Results and arguments are JSON: a member that is called like a part of a message is none.
  ['a result with members like a url', result({ type: 'json', value: { type: 'url', url: 'https://example.org' } })],
  [
    'bytes in a result',
    result({ type: 'json', value: { data: Buffer.from('ab'), view: pool.subarray(1, 3) } as never }),
  ],
  [
    'arguments that a schema has changed',
    result(
      { type: 'json', value: null },
      { at: new Date(0), url, none: undefined, map: new Map([[1, 2]]), type: 'file', data: Buffer.from('a') },
    ),
  ],
])('a resumed model gets the same prompt with %s', async (_, messages) => {
  expect(await promptOf(await keptMessages(messages))).toEqual(await promptOf(messages));
});

it('names values that cannot be kept', async () => {
  const messages = result({ type: 'json', value: null }, { big: 1n });
  await expect(keptMessages(messages)).rejects.toThrow(
    'The messages of the model cannot be kept for a resumable answer: Do not know how to serialize a BigInt.',
  );
});
