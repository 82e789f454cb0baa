import { connect, createA2AServer } from 'parley-a2a';
import { type A2AChatHandlerOptions, a2aChatHandler } from 'parley-a2a-ai-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0)) await close();
});

const API = 'https://app.test/api/chat';
const JSON_TYPE = { 'content-type': 'application/json' };
const USER = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hello' }] };

async function endpoint(options: A2AChatHandlerOptions = {}) {
  const server = createA2AServer({
    name: 'Counter',
    agent: async (prompt, context) => {
      if (prompt === 'wait') await new Promise(() => {});
      return `${prompt} ${(await context.conversation()).length}`;
    },
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const handler = a2aChatHandler(server, options);
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    handler(
      new Request(API, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  return { handler, send, client: await connect(url) };
}

describe('the endpoint of a chat', () => {
  it('answers with the stream of the AI SDK, also for an agent of the same process', async () => {
    const { send } = await endpoint();
    const response = await send({ id: 'chat', messages: [USER], trigger: 'submit-message' });
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await response.text();
    expect(text).toContain('"delta":"hello 1"');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  it.each([
    { name: 'no JSON', body: '{', status: 400, says: 'no JSON' },
    { name: 'no object', body: 'null', status: 400, says: 'no list of messages' },
    { name: 'no messages', body: { id: 'c' }, status: 400, says: 'no list of messages' },
    { name: 'an empty list', body: { id: 'c', messages: [] }, status: 400, says: 'no message' },
    { name: 'no id of the chat', body: { messages: [USER] }, status: 400, says: 'The id of a chat' },
    { name: 'a long id', body: { id: 'c'.repeat(201), messages: [USER] }, status: 400, says: 'The id of a chat' },
    { name: 'half of a character', body: { id: '\ud800', messages: [USER] }, status: 400, says: 'The id of a chat' },
    { name: 'no message', body: { id: 'c', messages: [null] }, status: 400, says: 'A message has no id' },
    {
      name: 'no parts',
      body: { id: 'c', messages: [{ ...USER, parts: 1 }] },
      status: 400,
      says: 'no message of the AI',
    },
    { name: 'empty parts', body: { id: 'c', messages: [{ ...USER, parts: [] }] }, status: 400, says: '' },
    {
      name: 'a system message',
      body: { id: 'c', messages: [{ ...USER, role: 'system' }] },
      status: 400,
      says: 'no message of its user',
    },
    {
      name: 'the url of a file that is no file',
      body: {
        id: 'c',
        messages: [{ ...USER, parts: [{ type: 'file', mediaType: 'a/b', url: 'file:///etc/passwd' }] }],
      },
      status: 400,
      says: 'The url of a file',
    },
    {
      name: 'an answer without a question',
      body: { id: 'c', messages: [{ ...USER, role: 'assistant' }] },
      status: 400,
      says: 'no answer to a question',
    },
  ])('refuses $name', async ({ body, status, says }) => {
    const { send, client } = await endpoint();
    const response = await send(body);
    const text = await response.text();
    expect([response.status, text.includes(says)]).toEqual([status, true]);
    expect(text).not.toMatch(/\n\s+at |node_modules|Error:/);
    expect((await client.listTasks()).tasks).toEqual([]);
  });

  it('refuses bodies that are too long, with a length or without one', async () => {
    const { send, handler } = await endpoint({ maxBytes: 1_000 });
    expect((await send({ id: 'c', messages: [{ ...USER, filler: 'x'.repeat(1_000) }] })).status).toBe(413);
    const body = new ReadableStream({
      start(controller) {
        for (let index = 0; index < 20; index += 1) controller.enqueue(new Uint8Array(100).fill(32));
        controller.close();
      },
    });
    const init = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' } as RequestInit;
    expect((await handler(new Request(API, init))).status).toBe(413);
  });

  it('refuses the forms of other pages, other methods and other paths', async () => {
    const { send, handler } = await endpoint();
    expect((await send({ id: 'c', messages: [USER] }, { 'content-type': 'text/plain' })).status).toBe(415);
    const put = await handler(new Request(API, { method: 'PUT' }));
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
    expect((await handler(new Request(API))).status).toBe(404);
    expect((await handler(new Request(`${API}/%ff/stream`))).status).toBe(400);
  });

  it('gives each user chats of their own', async () => {
    const { send, handler } = await endpoint({ user: ({ headers }) => headers.get('x-user') ?? undefined });
    const body = { id: 'chat', messages: [{ ...USER, id: 'm0' }, USER] };
    expect((await send(body)).status).toBe(401);
    expect(await (await send(body, { 'x-user': 'ada' })).text()).toContain('hello 1');
    expect(await (await send(body, { 'x-user': 'ada' })).text()).toContain('hello 3');
    expect(await (await send(body, { 'x-user': 'bob' })).text()).toContain('hello 1');
    const stream = new Request(`${API}/chat/stream`, { headers: { 'x-user': 'eve' } });
    expect((await handler(stream)).status).toBe(204);
  });

  it('cancels the task on DELETE, and not when the browser goes away', async () => {
    const { send, handler, client } = await endpoint();
    const response = await send({ id: 'chat', messages: [{ ...USER, parts: [{ type: 'text', text: 'wait' }] }] });
    const reader = response.body?.getReader();
    await reader?.read();
    const state = async () => (await client.listTasks()).tasks[0]?.status.state;
    await vi.waitFor(async () => expect(await state()).toBe('TASK_STATE_WORKING'), { timeout: 15_000 });
    await reader?.cancel();
    expect(await state()).toBe('TASK_STATE_WORKING');
    const stopped = await handler(new Request(`${API}/chat/stream`, { method: 'DELETE' }));
    expect([stopped.status, await state()]).toEqual([204, 'TASK_STATE_CANCELED']);
  });

  it('tells an answer again if it has just ended, because the browser may have gone away before', async () => {
    const { send, handler } = await endpoint();
    const resumeChat = () => handler(new Request(`${API}/chat/stream`));
    expect((await resumeChat()).status).toBe(204);
    const first = await (await send({ id: 'chat', messages: [USER] })).text();
    expect(await (await resumeChat()).text()).toBe(first);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    expect((await resumeChat()).status).toBe(204);
  });

  it('tells the log about errors, and the browser nothing of them', async () => {
    const errors: unknown[] = [];
    const handler = a2aChatHandler('http://127.0.0.1:9/secret', {
      onError: (error) => {
        errors.push(error);
        return 'Try again later.';
      },
    });
    const body = JSON.stringify({ id: 'c', messages: [USER] });
    const response = await handler(new Request(API, { method: 'POST', headers: JSON_TYPE, body }));
    expect([response.status, await response.text()]).toEqual([502, 'Try again later.']);
    expect(errors).toHaveLength(1);
  });
});
