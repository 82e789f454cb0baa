import type { AgentExecutor } from 'parley-a2a';
import { A2AError } from 'parley-a2a/client';
import { type A2AServerOptions, createA2AServer } from 'parley-a2a/node';
import { capnwebBinding, connectCapnweb } from 'parley-a2a-capnweb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ResettingProxy } from '../support/resetting-proxy.js';

/** Counts with one step for each message of its callers, and echoes files. */
class SteppedAgent implements AgentExecutor {
  readonly #steps = new Map<string, PromiseWithResolvers<void>>();

  async execute(...[context, events]: Parameters<AgentExecutor['execute']>): Promise<void> {
    const [command, count] = context.text.split(' ');
    const files = context.message.parts.filter((part) => part.raw !== undefined);
    if (files.length > 0) await events.artifact(files);
    if (command === 'steps') {
      await events.working();
      const id = await events.artifact('0');
      for (let at = 1; at < Number(count); at++) {
        await this.#step(`${context.taskId} ${at}`).promise;
        await events.append(id, `${at}`);
      }
    }
    await events.complete();
  }

  step(taskId: string, at: number): void {
    this.#step(`${taskId} ${at}`).resolve();
  }

  #step(name: string): PromiseWithResolvers<void> {
    const step = this.#steps.get(name) ?? Promise.withResolvers<void>();
    this.#steps.set(name, step);
    return step;
  }
}

async function serveAgent(options: Pick<A2AServerOptions, 'limits'> = {}) {
  const agent = new SteppedAgent();
  const server = createA2AServer({ agent, health: false, bindings: [capnwebBinding()], ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  return { agent, server, url, port: Number(new URL(url).port) };
}

async function objectsAt(...[agent, options]: Parameters<typeof connectCapnweb>) {
  const objects = await connectCapnweb(agent, options);
  onTestFinished(() => objects.close());
  return objects;
}

const terminal = {
  statusUpdate: expect.objectContaining({ status: expect.objectContaining({ state: 'TASK_STATE_COMPLETED' }) }),
};

describe('the objects of an agent', () => {
  it('a task is used before the answer to its message has arrived', async () => {
    const { url } = await serveAgent();
    const { answer, task } = (await objectsAt(url)).send('hi');
    const [read, answered] = await Promise.all([task.get(), answer]);
    expect(read).toMatchObject({ id: await task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(answered).toMatchObject({ task: { id: read.id } });
  });

  it('a missing task is an error of the protocol', async () => {
    const { url } = await serveAgent();
    const agent = await objectsAt(url);
    await expect(agent.task('none').get()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    const { task } = agent.send('hi');
    await expect(task.cancel()).rejects.toBeInstanceOf(A2AError);
  });

  it('a feed ends after the task, and can be left', async () => {
    const { agent: steps, url } = await serveAgent();
    const agent = await objectsAt(url);
    const id = await startedTask(agent, 'steps 3');
    const task = agent.task(id);
    const feed = task.subscribe({ after: 0 });
    steps.step(id, 1);
    steps.step(id, 2);
    const events = [];
    for await (const event of feed) events.push(event);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.at(-1)?.event).toEqual(terminal);
    const other = task.subscribe({ after: 0 });
    expect((await other.next()).done).toBe(false);
    other[Symbol.dispose]();
    expect((await other.next()).done).toBe(true);
  });

  it('a view reads a task, and has no way to change it', async () => {
    const { url } = await serveAgent();
    const { task } = (await objectsAt(url)).send('hi');
    const view = task.view();
    expect(await view.get({ historyLength: 0 })).toMatchObject({ id: await task.id });
    expect(Object.keys(view).sort()).toEqual(['get', 'subscribe']);
  });
});

describe('a watch', () => {
  it('gives each event once and in order, through connections that are lost', async () => {
    const { agent: steps, server, port } = await serveAgent();
    await using proxy = await ResettingProxy.open(port);
    const supportedInterfaces = server.agentCard.supportedInterfaces.map((item) => ({
      ...item,
      url: item.url.replace(`:${port}`, `:${proxy.port}`),
    }));
    const agent = await objectsAt({ ...server.agentCard, supportedInterfaces });
    const direct = await objectsAt(server.agentCard);
    const taskId = await startedTask(direct, 'steps 6');
    const seen: (number | undefined)[] = [];
    const watch = agent.task(taskId).watch((events) => void seen.push(...events.map(({ seq }) => seq)), { after: 0 });
    for (let at = 1; at < 6; at++) {
      await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(at + 2), 10_000);
      proxy.reset();
      steps.step(taskId, at);
    }
    await watch.ended;
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, at) => at + 1));
    expect(seen.length).toBe(9);
    expect(proxy.resets).toBeGreaterThan(1);
  });

  it('whose function is busy while the connection is lost gets the next batch after its return', async () => {
    const { agent: steps, server, port } = await serveAgent();
    let connections = 0;
    await using proxy = await ResettingProxy.open(port, () => {
      connections += 1;
      return Number.POSITIVE_INFINITY;
    });
    const supportedInterfaces = server.agentCard.supportedInterfaces.map((item) => ({
      ...item,
      url: item.url.replace(`:${port}`, `:${proxy.port}`),
    }));
    const agent = await objectsAt({ ...server.agentCard, supportedInterfaces });
    const taskId = await startedTask(await objectsAt(server.agentCard), 'steps 3');
    const returns = Promise.withResolvers<void>();
    const seen: (number | undefined)[] = [];
    let running = 0;
    let most = 0;
    const watch = agent.task(taskId).watch(
      async (events) => {
        most = Math.max(most, ++running);
        seen.push(...events.map(({ seq }) => seq));
        await returns.promise;
        running -= 1;
      },
      { after: 0 },
    );
    await vi.waitFor(() => expect(running).toBe(1), 15_000);
    proxy.reset();
    await vi.waitFor(() => expect(connections).toBe(2), 10_000);
    steps.step(taskId, 1);
    steps.step(taskId, 2);
    // A later watch of the same connection has got all events.
    await agent.task(taskId).watch(() => {}, { after: 0 }).ended;
    expect(most).toBe(1);
    returns.resolve();
    await watch.ended;
    expect(most).toBe(1);
    expect(seen).toEqual(Array.from({ length: 6 }, (_, at) => at + 1));
  });

  it('that throws ends itself, and no other', async () => {
    const { agent: steps, url } = await serveAgent();
    const agent = await objectsAt(url);
    const taskId = await startedTask(agent, 'steps 3');
    const task = agent.task(taskId);
    const failing = task.watch(() => {
      throw new RangeError('too much');
    });
    const seen: (number | undefined)[] = [];
    const other = task.watch((events) => void seen.push(...events.map(({ seq }) => seq)), { after: 0 });
    await expect(failing.ended).rejects.toThrow('too much');
    steps.step(taskId, 1);
    steps.step(taskId, 2);
    await other.ended;
    expect(seen).toEqual(seen.map((_, at) => at + 1));
  });

  it('that is closed gets nothing more', async () => {
    const { agent: steps, url } = await serveAgent();
    const agent = await objectsAt(url);
    const taskId = await startedTask(agent, 'steps 3');
    let batches = 0;
    const watch = agent.task(taskId).watch(() => {
      batches += 1;
    });
    await vi.waitFor(() => expect(batches).toBe(1), 15_000);
    watch.close();
    await watch.ended;
    steps.step(taskId, 1);
    steps.step(taskId, 2);
    for await (const _ of agent.task(taskId).subscribe({ after: 0 }));
    expect(batches).toBe(1);
  });

  it('of a missing task rejects', async () => {
    const { url } = await serveAgent();
    const agent = await objectsAt(url);
    await expect(agent.task('none').watch(() => {}).ended).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });
});

describe('files', () => {
  it('travel as streams in both directions', async () => {
    const { url } = await serveAgent();
    const agent = await objectsAt(url);
    const size = 3_000_000;
    let sent = 0;
    const raw = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (sent >= size) return controller.close();
          controller.enqueue(new Uint8Array(50_000).fill(sent / 50_000));
          sent += 50_000;
        },
      },
      { highWaterMark: 0 },
    );
    const bytes = new Uint8Array([1, 2, 3]);
    const parts = [
      { raw, filename: 'large' },
      { raw: bytes, mediaType: 'a/b' },
    ];
    const { task, answer } = agent.send({ message: { parts } });
    await answer;
    const [large, small] = await task.files();
    expect(large).toMatchObject({ filename: 'large' });
    expect(small).toMatchObject({ mediaType: 'a/b' });
    expect(await lengthOf(large?.content)).toEqual({ length: size, last: 59 });
    expect(await lengthOf(small?.content)).toEqual({ length: 3, last: 3 });
  });
});

async function lengthOf(stream: ReadableStream<Uint8Array> | undefined) {
  let length = 0;
  let last: number | undefined;
  for await (const chunk of stream ?? []) {
    length += chunk.length;
    last = chunk.at(-1);
  }
  return { length, last };
}

/** A task that works. */
async function startedTask(agent: Awaited<ReturnType<typeof connectCapnweb>>, text: string) {
  const stream = agent.client.sendStreamingMessage(text);
  for await (const event of stream) if (event.artifactUpdate !== undefined) break;
  return stream.taskId ?? '';
}
