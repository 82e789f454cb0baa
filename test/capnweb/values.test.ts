import { describe, expect, it } from 'vitest';
import { assertNoInternals } from '../support/no-internals.js';
import { HELLO, itemsOf, message, refusal, servedAgent, waitForClose } from './session-world.js';

type Part = { raw?: Uint8Array | ReadableStream; metadata?: object };
type Execution = { message: { parts: { raw?: string; metadata?: object }[] } };
type Events = { artifact(parts: object[]): Promise<unknown>; complete(): Promise<unknown> };

/** An agent that answers with the parts of its message. */
const echoing = {
  execute: async ({ message: { parts } }: Execution, events: Events) => {
    await events.artifact(parts);
    await events.complete();
  },
};

async function bytesOf(raw: Uint8Array | ReadableStream | undefined): Promise<Buffer> {
  if (raw instanceof Uint8Array) return Buffer.from(raw);
  const chunks: Uint8Array[] = [];
  for await (const chunk of raw ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('values', () => {
  it.each([0, 1, 1000, 300_000, 5_000_000])('file content of %i bytes comes back', async (length) => {
    const { agent } = await servedAgent({ agent: echoing } as object);
    const bytes = Buffer.alloc(length, 'parley');
    const { task } = await agent().sendMessage({ message: message('', { parts: [{ raw: new Uint8Array(bytes) }] }) });
    const part = task.artifacts?.[0]?.parts[0] as unknown as Part;
    expect((await bytesOf(part.raw)).equals(bytes)).toBe(true);
    expect(part.raw instanceof ReadableStream).toBe(length > 256 * 1024);
  });

  it('file content may come as a stream of bytes', async () => {
    const { agent } = await servedAgent({ agent: echoing } as object);
    const chunks = Array.from({ length: 40 }, (_, at) => new Uint8Array(65_536).fill(at));
    const raw = new ReadableStream({
      pull: (controller) => {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const feed = await agent().sendStreamingMessage({ message: message('', { parts: [{ raw }] }) });
    let received: Buffer | undefined;
    for await (const { event } of feed.events) {
      if ('artifactUpdate' in event) {
        const [part] = (event as { artifactUpdate: { artifact: { parts: Part[] } } }).artifactUpdate.artifact.parts;
        received = await bytesOf(part?.raw);
      }
    }
    expect(received?.length).toBe(40 * 65_536);
    expect(received?.at(-1)).toBe(39);
  });

  it('a stream that is larger than a request is refused', async () => {
    const { agent } = await servedAgent({ limits: { bodyBytes: 500_000 } } as object);
    let isCancelled = false;
    const raw = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      cancel: () => {
        isCancelled = true;
      },
    });
    const ada = agent();
    expect(await refusal(ada.sendMessage({ message: message('', { parts: [{ raw }] }) }))).toMatchObject({
      reason: 'INVALID_PARAMS',
    });
    await expect.poll(() => isCancelled).toBe(true);
    expect(await ada.ping()).toBe('pong');
  });

  it('many files at the same time wait for others, and no file is lost', async () => {
    const { agent } = await servedAgent({ agent: echoing } as object);
    const ada = agent();
    await ada.ping();
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
    const slow = gates.map(({ promise }) => {
      const raw = new ReadableStream({
        pull: async (controller) => {
          await promise;
          controller.enqueue(new Uint8Array(1000));
          controller.close();
        },
      });
      return ada.sendMessage({ message: message('', { parts: [{ raw }] }) });
    });
    const file = () => ({
      message: message('', {
        parts: [{ raw: new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(10)) }) }],
      }),
    });
    expect(await refusal(ada.sendMessage(file()))).toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
    for (const { resolve } of gates) resolve();
    for (const { task } of await Promise.all(slow)) expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('names of every object survive', async () => {
    const { agent } = await servedAgent({ agent: echoing } as object);
    const metadata = JSON.parse('{"~constructor":1,"~__proto__":{"~toJSON":2},"~~x":3}');
    const sent = message('hi', { parts: [{ text: 'hi', metadata }] });
    const { task } = await agent().sendMessage({ message: sent });
    expect(JSON.stringify(task.artifacts?.[0]?.parts[0])).toBe(JSON.stringify({ text: 'hi', metadata }));
  });

  it.each([
    ['a function', () => 1],
    ['a stream in the place of a text', { text: new ReadableStream() }],
    ['bytes in metadata', { text: 'a', metadata: { x: new Uint8Array(3) } }],
    ['a part without content', {}],
  ])('refuses %s', async (_, part) => {
    const { agent } = await servedAgent();
    const ada = agent();
    expect(await refusal(ada.sendMessage({ message: message('', { parts: [part] }) }))).toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' }, { fieldViolations: expect.any(Array) }],
    });
    expect(await ada.ping()).toBe('pong');
  });
});

describe('errors', () => {
  it('of agents reveal nothing', async () => {
    const secret = 'postgres://admin:hunter2@db/home/ada';
    const interceptor = () => {
      throw Object.assign(new TypeError(secret), { path: secret, cause: new Error(secret) });
    };
    const { agent } = await servedAgent({ interceptors: [interceptor] } as object);
    const refused = await refusal(agent().listTasks({}));
    expect(refused).toMatchObject({ reason: 'INTERNAL_ERROR', message: 'Internal error' });
    expect(JSON.stringify(refused)).not.toContain('hunter2');
    assertNoInternals(JSON.stringify(refused));
  });

  it.each(['execute', 'perform', 'session', 'options', 'run', 'grant'])('an object has no method %s', async (name) => {
    const { agent, open } = await servedAgent();
    for (const stub of [agent(), open().entrance] as unknown as Record<string, () => Promise<unknown>>[]) {
      const refused = await refusal((stub[name] as () => Promise<unknown>)());
      expect(refused).toMatchObject({ reason: 'METHOD_NOT_FOUND', message: 'The object has no such method' });
      assertNoInternals(JSON.stringify(refused));
    }
  });

  it('of the library reveal nothing to a peer that breaks its rules', async () => {
    const { open } = await servedAgent();
    const { socket, entrance } = open();
    await entrance.ping();
    const closed = waitForClose(socket);
    const texts: string[] = [];
    socket.on('message', (text) => texts.push(String(text)));
    socket.send('["release",77,1]');
    expect((await closed).code).toBe(1008);
    expect(texts).toHaveLength(1);
    expect(JSON.parse(texts[0] ?? '')).toMatchObject([
      'abort',
      ['error', 'Error', 'Internal error', null, { reason: 'INTERNAL_ERROR' }],
    ]);
    assertNoInternals(texts[0] ?? '');
  });
});

describe('a function of a client that gets events', () => {
  const asking = {
    execute: async (_context: unknown, events: { inputRequired(text: string): Promise<unknown> }) =>
      void (await events.inputRequired('and?')),
  };

  it.each([
    ['throws', () => Promise.reject(new Error('broken'))],
    ['never returns', () => new Promise(() => {})],
  ])('that %s loses only itself', async (_, broken) => {
    const { agent } = await servedAgent({ agent: asking });
    const ada = agent();
    const { task } = await ada.sendMessage({ message: message('hi') });
    const held = ada.task(task.id);
    const seen: number[] = [];
    let calls = 0;
    await held.watch(
      () => {
        calls++;
        return broken();
      },
      { after: 0 },
    );
    await held.watch((items) => void seen.push(...items.map(({ seq }) => seq)), { after: 0 });
    const feed = itemsOf(await held.subscribe({ after: 0 }));
    await held.cancel();
    const seqs = (await feed).map(({ seq }) => seq);
    expect(seqs).toEqual([1, 2, 3, 4]);
    await expect.poll(() => seen).toEqual(seqs);
    expect(calls).toBe(1);
  });

  it('that vanishes with its connection, while it has an event, loses only itself', async () => {
    const { agent, open } = await servedAgent({ agent: asking });
    const ada = agent();
    const { task } = await ada.sendMessage({ message: message('hi') });
    const { socket, entrance } = open();
    let calls = 0;
    const vanish = () => {
      calls++;
      socket.terminate();
      return new Promise<void>(() => {});
    };
    const watching = entrance.authenticate(HELLO).task(task.id).watch(vanish, { after: 0 });
    // The answer to the call itself may be lost with the connection.
    void Promise.resolve(watching).catch(() => {});
    const held = ada.task(task.id);
    const feed = itemsOf(await held.subscribe({ after: 0 }));
    await expect.poll(() => calls).toBe(1);
    await held.cancel();
    expect((await feed).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(calls).toBe(1);
  });

  it('that is no function is refused', async () => {
    const { agent } = await servedAgent({ agent: asking });
    const ada = agent();
    const { task } = await ada.sendMessage({ message: message('hi') });
    expect(await refusal(ada.task(task.id).watch({} as never))).toMatchObject({ reason: 'INVALID_PARAMS' });
    expect(await refusal(ada.task(task.id).subscribe({ after: -1 }))).toMatchObject({ reason: 'INVALID_PARAMS' });
    expect(await refusal(ada.task(7))).toMatchObject({ reason: 'INVALID_PARAMS' });
    expect(await refusal(ada.task(task.id).send({ ...message('x'), taskId: 'other' }))).toMatchObject({
      reason: 'INVALID_PARAMS',
    });
    expect(HELLO).toBeDefined();
  });
});
