import { afterEach, describe, expect, it } from 'vitest';
import { FileKeeper } from '../../packages/parley/src/app/files/file-keeper.js';
import { MessageFiles } from '../../packages/parley/src/app/files/message-files.js';
import { A2AError } from '../../packages/parley/src/errors/a2a-error.js';
import { connect } from '../../packages/parley/src/exports/client.js';
import {
  FILES_EXTENSION,
  type FileTransferOptions,
  fileTransfer,
  memoryFileStore,
} from '../../packages/parley/src/exports/files.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { Message } from '../../packages/parley/src/model/message.js';
import type { Part } from '../../packages/parley/src/model/part.js';
import type { Task } from '../../packages/parley/src/model/task.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { CountingIds } from '../../packages/parley/test/counting-ids.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** An agent on a server with files, and clients with and without the extension. */
async function serveAgent(execute: AgentExecutor['execute'], files: Partial<FileTransferOptions> = {}) {
  const store = memoryFileStore();
  const server = createA2AServer({
    agent: { execute },
    files: fileTransfer({ store, inlineBytes: 100, ...files }),
  } as A2AServerOptions);
  closers.push(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const call = async (method: string, params: object, extensions = '') => {
    const answer = await fetch(`${url.replace(/\/a2a.*$/, '')}/a2a/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'a2a-extensions': extensions },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await answer.json()) as { result?: { task?: Task } & Task; error?: { message: string } };
  };
  const client = await connect(url);
  closers.push(() => client.close());
  return { url, store, call, client };
}

const large = Buffer.from('large '.repeat(100)).toString('base64');
const small = Buffer.from('small').toString('base64');
const sendParams = (
  parts: readonly Part[],
  messageId: string = crypto.randomUUID(),
): { readonly message: Message } => ({
  message: { messageId, role: 'ROLE_USER', parts },
});

describe('raw parts of a message', () => {
  it('become files above a size, which the agent reads', async () => {
    let seen: readonly Part[] = [];
    const { call } = await serveAgent(async (context, events) => {
      seen = context.message.parts;
      const texts: string[] = [];
      for (const part of seen) {
        const file = await context.files.open(part);
        texts.push(
          `${file.filename} ${file.mediaType} ${file.size} ${Buffer.from(await file.bytes(10_000)).toString()}`,
        );
      }
      await events.complete(texts.join('|'));
    });
    const parts = [
      { raw: large, filename: '../a.txt', mediaType: 'text/plain' },
      { raw: small, filename: 'b.txt', mediaType: 'text/plain' },
    ];
    const { result } = await call('SendMessage', sendParams(parts));
    expect(seen[0]).toEqual({
      url: expect.stringMatching(/\/a2a\/files\/[0-9a-f]{32}$/),
      filename: 'a.txt',
      mediaType: 'text/plain',
    });
    expect(seen[1]).toEqual(parts[1]);
    const [text] = result?.task?.status.message?.parts ?? [];
    expect(text).toEqual({ text: `a.txt text/plain 600 ${'large '.repeat(100)}|b.txt text/plain 5 small` });
    // A client without the extension reads back what it sent.
    expect(result?.task?.history?.[0]?.parts[0]).toMatchObject({ raw: large, filename: 'a.txt' });
    const found = await call('GetTask', { id: result?.task?.id }, FILES_EXTENSION);
    expect(found.result?.history?.[0]?.parts[0]).toMatchObject({ url: expect.any(String) });
  });

  it('are refused if their bytes do not fit their type', async () => {
    const { call, store } = await serveAgent(async (_context, events) => void (await events.complete()));
    const page = Buffer.from(`<!DOCTYPE html>${' '.repeat(200)}`).toString('base64');
    const { error } = await call('SendMessage', sendParams([{ raw: page, mediaType: 'image/png' }]));
    expect(error?.message).toContain('not of the declared type');
    expect(await store.usage({ agent: '/', owner: null })).toEqual({ files: 0, bytes: 0 });
  });

  it('of a refused message leave no file, on every way of sending', async () => {
    const { store, call, client } = await serveAgent((_, events) => events.complete('ok'), { ownerBytes: 9_000 });
    const usage = () => store.usage({ agent: '/', owner: null });
    const refused = sendParams([{ raw: large, mediaType: 'text/plain' }]);
    const about = { message: { ...refused.message, taskId: '00000000-0000-7000-8000-000000000000' } };
    for (let at = 0; at < 3; at += 1) {
      expect((await call('SendMessage', about)).error).toMatchObject({ message: expect.stringContaining('found') });
      await expect(client.sendStreamingMessage(about).next()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    }
    expect(await usage()).toMatchObject({ bytes: 0, files: 0 });
    const { result } = await call('SendMessage', sendParams([{ raw: large, mediaType: 'text/plain' }]));
    expect(result?.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await usage()).toMatchObject({ files: 1 });
    // The second of two files has no room.
    const two = sendParams([{ raw: large }, { raw: Buffer.alloc(900).toString('base64') }]);
    expect((await call('SendMessage', two)).error).toBeDefined();
    expect(await usage()).toMatchObject({ files: 1 });
  });

  it('of a message that is refused while it is accepted on another way stay', async () => {
    const store = memoryFileStore();
    const rules = {
      maxBytes: 10_000,
      ownerBytes: 100_000,
      expiryMs: 60_000,
      unfinishedMs: 60_000,
      mediaTypes: {},
    };
    const keeper = new FileKeeper({ store, rules, clock: systemClock, ids: new CountingIds() });
    const files = new MessageFiles({
      keeper,
      inlineBytes: 100,
      urlOf: (_, id) => `http://x/${id}`,
      logger: silentLogger,
    });
    const scope = { agent: '/', tenant: '', owner: null };
    const { message } = sendParams([{ raw: large }]);
    const [refused, accepted] = await Promise.all([files.store(scope, message), files.store(scope, message)]);
    await refused.end(new A2AError('RESOURCE_EXHAUSTED', 'Too many'));
    await accepted.end();
    expect(await store.usage({ agent: '/', owner: null })).toMatchObject({ files: 1 });
    const again = await files.store(scope, message);
    await again.end(new A2AError('RESOURCE_EXHAUSTED', 'Too many'));
    expect(await store.usage({ agent: '/', owner: null })).toMatchObject({ files: 1 });
  });

  it('of a message that is sent again are the same files', async () => {
    const { call, store } = await serveAgent(async (_context, events) => void (await events.complete()));
    const message = sendParams([{ raw: large }], 'same');
    await call('SendMessage', message);
    await call('SendMessage', message);
    expect(await store.usage({ agent: '/', owner: null })).toMatchObject({ files: 1 });
  });
});

describe('raw parts of an agent', () => {
  it('become files above a size, in their order, for clients that take urls', async () => {
    const { call, client } = await serveAgent((_context, events) => {
      void events.artifact({ raw: large, filename: 'one.txt', mediaType: 'text/plain' }, { artifactId: 'a' });
      void events.append('a', 'after');
      void events.complete();
    });
    const { result } = await call('SendMessage', sendParams([{ text: 'go' }]), FILES_EXTENSION);
    expect(result?.task?.artifacts?.[0]?.parts).toEqual([
      { url: expect.stringMatching(/\/a2a\/files\/[0-9a-f]{32}$/), filename: 'one.txt', mediaType: 'text/plain' },
      { text: 'after' },
    ]);
    const part = result?.task?.artifacts?.[0]?.parts[0];
    const down = await fetch(part && part.url !== undefined ? part.url : '');
    expect(await down.text()).toBe('large '.repeat(100));
    const seen: Part[] = [];
    for await (const event of client.sendStreamingMessage(sendParams([{ text: 'go' }]))) {
      if (event.artifactUpdate !== undefined) seen.push(...event.artifactUpdate.artifact.parts);
    }
    expect(seen).toEqual([{ raw: large, filename: 'one.txt', mediaType: 'text/plain' }, { text: 'after' }]);
  });

  it('fail the task if they cannot be stored', async () => {
    const { call } = await serveAgent(
      (_context, events) => {
        void events.artifact({ raw: large });
      },
      { ownerBytes: 10 },
    );
    const { result } = await call('SendMessage', sendParams([{ text: 'go' }]));
    expect(result?.task?.status.state).toBe('TASK_STATE_FAILED');
  });
});

describe('the files of a turn', () => {
  it('are written as streams, and stay urls beyond the bytes for one answer', async () => {
    const { call } = await serveAgent(
      async (context, events) => {
        async function* rows() {
          for (let at = 0; at < 100; at++) yield new TextEncoder().encode(`row ${at}\n`);
        }
        await events.artifact(await context.files.write(rows(), { filename: 'rows.csv', mediaType: 'text/csv' }));
        await events.complete();
      },
      { handedBytes: 100 },
    );
    const { result } = await call('SendMessage', sendParams([{ text: 'go' }]));
    const [part] = result?.task?.artifacts?.[0]?.parts ?? [];
    expect(part).toEqual({ url: expect.any(String), filename: 'rows.csv', mediaType: 'text/csv' });
    expect((await (await fetch(part && part.url !== undefined ? part.url : '')).text()).split('\n')).toHaveLength(101);
  });

  it('are never fetched from elsewhere', async () => {
    let fetched = 0;
    const id = 'a'.repeat(32);
    const { call, url } = await serveAgent(async (context, events) => {
      const problems: string[] = [];
      for (const part of context.message.parts) {
        await context.files.open(part).catch((error: Error) => {
          problems.push(error.name);
        });
      }
      await events.complete(problems.join());
    });
    const other = createA2AServer({
      agent: async () => 'x',
      interceptors: [
        (call, next) => {
          fetched += 1;
          return next(call);
        },
      ],
    } as A2AServerOptions);
    closers.push(() => other.close({ graceMs: 0 }));
    const { url: elsewhere } = await other.listen(0);
    const base = new URL(url).origin;
    const parts = [
      { url: `${new URL(elsewhere).origin}/a2a/files/${id}` },
      { url: `${base}/a2a/files/${id}` },
      { url: `${base}/a2a/files/../files/x` },
      { url: `file:///a2a/files/${id}` },
      { url: `${base}/a2a/files/${id}?tenant=other` },
      { url: 'not a url' },
      { text: 'no file' },
    ];
    const { result } = await call('SendMessage', sendParams(parts));
    const [text] = result?.task?.status.message?.parts ?? [];
    expect(text).toEqual({ text: Array(7).fill('InvalidParamsError').join() });
    expect(fetched).toBe(0);
  });

  it('need the option of the server', async () => {
    let problem: unknown;
    const server = createA2AServer({
      agent: {
        execute: async (context, events) => {
          try {
            await context.files.write('x');
          } catch (error) {
            problem = error;
          }
          await events.complete();
        },
      },
    } as A2AServerOptions);
    closers.push(() => server.close({ graceMs: 0 }));
    const { url } = await server.listen(0);
    const client = await connect(url);
    closers.push(() => client.close());
    await client.ask('go');
    expect(String(problem)).toBe('OptionsError: context.files: the server needs the option files');
  });
});

describe('inline', () => {
  it('gives the bytes of own files that fit, and leaves all other parts as they are', async () => {
    let inlined: readonly Part[] = [];
    const others: Part[] = [{ text: 'hello' }, { url: 'https://elsewhere.example/a.txt' }, { raw: small }];
    const { call } = await serveAgent(async (context, events) => {
      const first = await context.files.write('12345', { filename: 'a.txt', mediaType: 'text/plain' });
      const second = await context.files.write('1234567890');
      const third = await context.files.write('67890');
      const unknown = { url: first.url.replace(/[0-9a-f]{32}$/, '0'.repeat(32)) };
      inlined = await context.files.inline([first, ...others, second, third, unknown], 10);
      expect(inlined.slice(-1)).toEqual([unknown]);
      expect(inlined.slice(-3, -2)).toEqual([second]);
      await events.complete();
    });
    await call('SendMessage', sendParams([{ text: 'Go' }]));
    const raw = (text: string) => Buffer.from(text).toString('base64');
    expect(inlined).toMatchObject([
      { raw: raw('12345'), filename: 'a.txt', mediaType: 'text/plain' },
      ...others,
      { url: expect.any(String) },
      { raw: raw('67890') },
      { url: expect.any(String) },
    ]);
  });
});
