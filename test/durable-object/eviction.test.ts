import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Miniflare } from 'miniflare';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Client, connect } from '../../packages/parley/src/exports/client.js';
import { StepsServer } from './steps-server.js';
import { startWorker } from './workerd.js';

const ORIGIN = 'http://worker.example';

let folder: string;
let server: StepsServer;
let worker: Miniflare;
let base: URL;

const open = async () => {
  const env = { STEPS: `http://${server.host}/steps`, WEBHOOKS: server.host };
  worker = await startWorker('agent-worker.ts', { className: 'Agents', binding: 'AGENTS', persist: folder, env });
  base = await worker.ready;
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-durable-object-'));
  server = await StepsServer.open();
  await open();
});
afterEach(async () => {
  await worker.dispose();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends a request for the public origin to the worker. */
const send: typeof fetch = (input, init) => {
  const request = new Request(input, init);
  const { pathname, search } = new URL(request.url);
  return fetch(new Request(new URL(`${pathname}${search}`, base), request));
};
const client = (): Promise<Client> => connect(ORIGIN, { fetch: send });
const alarm = async () => (await send(`${ORIGIN}/alarm`)).json() as Promise<number | null>;
const evict = () => send(`${ORIGIN}/evict`).then(() => undefined);

/** Sends a message, and resolves when its task is stored. */
async function begin(text: string, configuration = {}): Promise<string> {
  const message = { messageId: text, role: 'ROLE_USER' as const, parts: [{ text }] };
  const caller = await client();
  const answer = await caller.sendMessage({ message, configuration: { returnImmediately: true, ...configuration } });
  await caller.close();
  if (answer.task === undefined) throw new Error('The agent began no task');
  return answer.task.id;
}

async function taskOf(id: string) {
  const caller = await client();
  const task = await caller.getTask({ id });
  await caller.close();
  return task;
}

const untilCompleted = (id: string) =>
  vi.waitFor(async () => expect((await taskOf(id)).status.state).toBe('TASK_STATE_COMPLETED'), { timeout: 30_000 });

describe('an object that is evicted in the middle of a turn', () => {
  it('is woken by its alarm, without a request, and resumes the turn from its checkpoint', async () => {
    const id = await begin('one');
    expect((await server.wait('/steps', 1)).body).toEqual({ text: 'one', step: 'work', attempt: 1 });
    await evict();
    const again = await server.wait('/steps', 2);
    expect(again.body).toEqual({ text: 'one', step: 'work', attempt: 2, checkpoint: { begun: 1 } });
    again.answer();
    await untilCompleted(id);
    expect(await taskOf(id)).toMatchObject({
      status: { message: { parts: [{ text: 'one is done' }] } },
      artifacts: [{ parts: [{ text: 'one began' }] }],
    });
    expect(server.steps).toHaveLength(2);
  });

  it('has all tasks after a restart of the runtime on the same disk, and resumes those that ran', async () => {
    const ids = [await begin('one'), await begin('two'), await begin('three')];
    const steps = [await server.wait('/steps', 1), await server.wait('/steps', 2), await server.wait('/steps', 3)];
    steps.find(({ body }) => (body as { text: string }).text === 'two')?.answer();
    await untilCompleted(ids[1] as string);
    await worker.dispose();
    await open();
    const again = [await server.wait('/steps', 4), await server.wait('/steps', 5)];
    const texts = again.map(({ body }) => body as { text: string; attempt: number });
    expect(texts.map(({ text, attempt }) => `${text} ${attempt}`).sort()).toEqual(['one 2', 'three 2']);
    for (const step of again) step.answer();
    for (const id of ids) await untilCompleted(id);
    const caller = await client();
    const { tasks, totalSize } = await caller.listTasks({});
    await caller.close();
    expect([tasks.map(({ id }) => id).sort(), totalSize]).toEqual([[...ids].sort(), 3]);
  });

  it('retries a failed notification at the time of its retry', async () => {
    const id = await begin('one', { taskPushNotificationConfig: { url: `http://${server.host}/hook` } });
    (await server.wait('/hook', 1)).answer(503);
    (await server.wait('/steps', 1)).answer();
    // An object that is evicted in the middle of the turn would ask for its step again.
    await untilCompleted(id);
    await vi.waitFor(async () => expect((await alarm()) ?? 0).toBeGreaterThan(Date.now()), { timeout: 30_000 });
    await evict();
    // The first event is delivered again, then the others in order.
    for (let count = 2; ; count += 1) {
      const step = await server.wait('/hook', count);
      step.answer();
      if (JSON.stringify(step.body).includes('TASK_STATE_COMPLETED')) break;
    }
  });
});

it('an object without work has no alarm', async () => {
  const id = await begin('one');
  expect((await alarm()) ?? 0).toBeGreaterThan(Date.now() - 1_000);
  (await server.wait('/steps', 1)).answer();
  await untilCompleted(id);
  await vi.waitFor(async () => expect(await alarm()).toBeNull(), { timeout: 30_000 });
});
