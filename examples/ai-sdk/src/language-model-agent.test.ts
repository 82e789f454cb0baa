import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import type { StreamResponse, Task } from 'parley-a2a';
import { createA2AServer } from 'parley-a2a/node';
import { afterEach, expect, it } from 'vitest';
import { languageModelAgent } from './language-model-agent.js';

type Stream = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'];
type Part = Stream extends ReadableStream<infer T> ? T : never;

const START: readonly Part[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: 't' },
];
const delta = (text: string): Part => ({ type: 'text-delta', id: 't', delta: text });
const END: readonly Part[] = [
  { type: 'text-end', id: 't' },
  {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 7, text: 7, reasoning: undefined },
    },
  },
];

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A real server whose agent speaks as the stream says; calls go to its HTTP+JSON binding. */
async function served(model: MockLanguageModelV4) {
  const logged: unknown[] = [];
  const note = (_: string, fields?: object) => void logged.push(fields);
  const server = createA2AServer({
    agent: languageModelAgent({ model, instructions: 'Be brief.' }),
    logger: { debug() {}, info() {}, warn: note, error: note },
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const post = (path: string, body: object) =>
    fetch(`${url}/a2a/rest/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify(body),
    });
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Say hello' }] };
  return {
    logged,
    stream: async () => events(await post('message:stream', { message })),
    send: async (more: object = {}) =>
      ((await (await post('message:send', { message: { ...message, ...more } })).json()) as { task: Task }).task,
    cancel: (id: string) => post(`tasks/${id}:cancel`, {}),
  };
}

async function* events(response: Response): AsyncGenerator<StreamResponse> {
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) yield JSON.parse(data) as StreamResponse;
    }
  }
}

const textOf = (event: StreamResponse) => {
  const part = 'artifactUpdate' in event ? event.artifactUpdate.artifact.parts[0] : undefined;
  return part !== undefined && 'text' in part ? part.text : undefined;
};

it('every delta of the model is a chunk of the answer', async () => {
  const model = new MockLanguageModelV4({
    doStream: { stream: convertArrayToReadableStream([...START, delta('Hel'), delta('lo'), ...END]) },
  });
  const seen: StreamResponse[] = [];
  for await (const event of await (await served(model)).stream()) seen.push(event);
  expect(seen.map(textOf).filter((text) => text !== undefined)).toEqual(['Hel', 'lo']);
  expect(seen.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  expect(model.doStreamCalls[0]?.prompt).toMatchObject([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Say hello' }] },
  ]);
});

it('the model gets the conversation of the context', async () => {
  const answer = (text: string) => ({ stream: convertArrayToReadableStream([...START, delta(text), ...END]) });
  const model = new MockLanguageModelV4({ doStream: [answer('Hello Ada'), answer('Ada')] });
  const { send } = await served(model);
  const { contextId } = await send();
  await send({ messageId: 'm2', contextId: contextId ?? '', parts: [{ text: 'Who am I?' }] });
  expect(model.doStreamCalls[1]?.prompt).toMatchObject([
    { role: 'system' },
    { role: 'user', content: [{ text: 'Say hello' }] },
    { role: 'assistant', content: [{ text: 'Hello Ada' }] },
    { role: 'user', content: [{ text: 'Who am I?' }] },
  ]);
});

it('a cancel in the middle stops the model', async () => {
  const aborted = Promise.withResolvers<void>();
  const model = new MockLanguageModelV4({
    doStream: async ({ abortSignal }) => ({
      stream: new ReadableStream<Part>({
        start(controller) {
          for (const part of [...START, delta('Hel')]) controller.enqueue(part);
          abortSignal?.addEventListener('abort', () => {
            controller.error(abortSignal.reason);
            aborted.resolve();
          });
        },
      }),
    }),
  });
  const { stream, cancel } = await served(model);
  const seen: StreamResponse[] = [];
  let canceled: Promise<Response> | undefined;
  for await (const event of await stream()) {
    seen.push(event);
    if (textOf(event) !== undefined && 'artifactUpdate' in event) canceled = cancel(event.artifactUpdate.taskId);
  }
  await aborted.promise;
  expect((await canceled)?.status).toBe(200);
  expect(seen.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
});

const SECRET = 'the key sk-123 is not valid';

it.each<[string, () => ConstructorParameters<typeof MockLanguageModelV4>[0]]>([
  [
    'an error in the middle of the answer',
    () => ({
      doStream: {
        stream: convertArrayToReadableStream<Part>([
          ...START,
          delta('Hel'),
          { type: 'error', error: new Error(SECRET) },
        ]),
      },
    }),
  ],
  ['a call that fails', () => ({ doStream: () => Promise.reject(new Error(SECRET)) })],
  [
    'a connection that breaks',
    () => ({
      doStream: {
        stream: new ReadableStream<Part>({
          start(controller) {
            for (const part of [...START, delta('Hel')]) controller.enqueue(part);
          },
          pull: (controller) => controller.error(new Error(SECRET)),
        }),
      },
    }),
  ],
])('a model that fails by %s fails the task, and only the log is told why', async (_, failing) => {
  const model = new MockLanguageModelV4(failing());
  const { send, logged } = await served(model);
  const task = await send();
  expect(task.status.state).toBe('TASK_STATE_FAILED');
  expect(JSON.stringify(task)).not.toContain('sk-123');
  expect(logged).toMatchObject([{ error: { message: SECRET } }]);
});
