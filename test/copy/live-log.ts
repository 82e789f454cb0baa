import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { type CopiedCounts, copyStorage, type TaskStorage } from '../../packages/parley/src/exports/storage.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { type BoundAgent, MountedAgent, stateOf } from '../hosts/mounted-agent.js';
import { type Body, collect, type Frame, sendParams } from '../interop/wire.js';
import { BACKENDS } from '../support/backends.js';

/** A database that is one end of a copy. */
export interface CopyEnd {
  readonly url: string;
  open(): Promise<TaskStorage>;
  /** Removes the heartbeats of ended servers, which would otherwise expire. */
  forgetServers?(): Promise<void>;
}

/** The two ends of a copy. */
export interface CopyWorld {
  source(): Promise<CopyEnd>;
  target(): Promise<CopyEnd>;
}

/** A webhook that fails until it is told to answer. */
class Webhook implements AsyncDisposable {
  answers = false;
  readonly texts: string[] = [];
  readonly #server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      if (this.answers) this.texts.push(text);
      response.writeHead(this.answers ? 200 : 500).end();
      this.#look();
    });
  });
  #look = () => {};

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  has(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => this.texts.some((one) => one.includes(text)) && resolve();
      this.#look();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/**
 * Serves an agent on a storage. `ask` asks back. `hold` shows one chunk and works until its process stops; then it asks
 * back. Anything else completes.
 */
async function serveCopy(end: CopyEnd): Promise<{ readonly agent: BoundAgent } & AsyncDisposable> {
  const storage = await end.open();
  const server = createA2AServer({
    name: 'Copied',
    storage,
    logger: silentLogger,
    push: { allow: ['127.0.0.1'] },
    idempotency: { anonymous: true },
    agent: {
      resumable: true,
      async execute(context, events) {
        if (context.text === 'ask') return events.inputRequired('Which colour?');
        await events.working();
        if (context.text !== 'hold') return events.complete(`Done: ${context.text}`);
        if (context.attempt > 1) return events.inputRequired(`Again from ${JSON.stringify(context.checkpoint)}`);
        await context.saveCheckpoint({ step: 7 });
        await events.artifact('first', { name: 'chunks' });
        await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
      },
    },
  });
  const { url } = await server.listen(0);
  const mounted = await MountedAgent.at(url);
  return {
    agent: mounted.over('HTTP+JSON'),
    async [Symbol.asyncDispose]() {
      await server.close({ graceMs: 0 });
      await storage.close();
      await end.forgetServers?.();
    },
  };
}

const idOf = ({ task }: Body) => String((task as Body).id);
const seqsOf = (frames: readonly Frame[]) => frames.map(({ id }) => Number(id));
const LATER = { configuration: { returnImmediately: true } };

/** Copies a database with unfinished tasks, and goes on with them on the copy. */
export function testCopy(world: CopyWorld): void {
  it('copies a live log: all tasks go on in the copy as if nothing had happened', async () => {
    await using hook = new Webhook();
    const url = await hook.start();
    const source = await world.source();
    const target = await world.target();
    const first = sendParams('done');
    let ids: { asked: string; held: string; done: string };
    const seen: Frame[] = [];
    let listed: Body;
    {
      await using served = await serveCopy(source);
      const { agent } = served;
      const asked = idOf(await agent.send(sendParams('ask')));
      const done = idOf(await agent.send(first));
      const configuration = { taskPushNotificationConfig: { id: 'hook', url } };
      for await (const frame of agent.stream({ ...sendParams('hold'), configuration })) {
        seen.push(frame);
        if (agent.event(frame).artifactUpdate !== undefined) break;
      }
      const held = idOf(agent.event(seen[0]));
      await agent.send({ ...sendParams('after', { taskId: held }), ...LATER });
      listed = await agent.list({ includeArtifacts: 'true' });
      ids = { asked, held, done };
    }

    const copied = await copyStorage({ from: source.url, to: target.url, backends: BACKENDS });
    expect(copied).toMatchObject({ tasks: 3, turns: 2, pushConfigs: 1, present: 0 });

    hook.answers = true;
    await using served = await serveCopy(target);
    const { agent } = served;
    // The held turn runs again from its checkpoint, and the waiting one after it.
    const rest = await collect(agent.subscribe(ids.held, seen.at(-2)?.id));
    while (stateOf(agent.event(rest.at(-1))) !== 'TASK_STATE_COMPLETED') {
      rest.push(...(await collect(agent.subscribe(ids.held, rest.at(-1)?.id))));
    }
    const frames = [...seen.slice(0, -1), ...rest];
    expect(seqsOf(frames)).toEqual(frames.map((_, at) => at + 1));
    expect(rest[0]).toEqual(seen.at(-1));
    expect(JSON.stringify(rest)).toContain(String.raw`Again from {\"step\":7}`);
    expect(JSON.stringify(rest)).toContain('Done: after');
    await hook.has('Done: after');

    const answered = await agent.send(sendParams('blue', { taskId: ids.asked }));
    expect(stateOf(answered)).toBe('TASK_STATE_COMPLETED');
    expect(idOf(answered)).toBe(ids.asked);
    expect(idOf(await agent.send(first))).toBe(ids.done);
    const before = (listed.tasks as readonly Body[]).find(({ id }) => id === ids.done);
    expect(await agent.get(ids.done)).toMatchObject({ id: ids.done, status: before?.status });
    expect((await agent.list({})).totalSize).toBe(3);
  });

  it('copies nothing into a database with tasks, unless it resumes', async () => {
    const source = await world.source();
    const target = await world.target();
    for (const end of [source, target]) {
      await using served = await serveCopy(end);
      await served.agent.send(sendParams('done'));
    }
    const both = { from: source.url, to: target.url, backends: BACKENDS };
    await expect(copyStorage(both)).rejects.toThrow(/has 1 tasks already/);
    const again = async (): Promise<CopiedCounts> => copyStorage({ ...both, resume: true });
    expect(await again()).toMatchObject({ tasks: 1, present: 0 });
    expect(await again()).toMatchObject({ tasks: 1, present: 1 });
    await using served = await serveCopy(target);
    expect((await served.agent.list({})).totalSize).toBe(2);
  });

  it('tells its progress', async () => {
    const source = await world.source();
    const target = await world.target();
    {
      await using served = await serveCopy(source);
      for (let count = 0; count < 5; count++) await served.agent.send(sendParams('done'));
    }
    const told: string[] = [];
    const onProgress = (tasks: number, all: number) => void told.push(`${tasks}/${all}`);
    await copyStorage({ from: source.url, to: target.url, backends: BACKENDS, onProgress });
    expect(told).toEqual(['5/5']);
  });
}
