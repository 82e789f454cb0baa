import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Artifact, StreamResponse } from 'parley-a2a';
import type { ConnectOptions } from 'parley-a2a/client';
import { PushReceiver } from 'parley-a2a/push-receiver';
import { type SignedContent, verifySigned } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AUDIENCE, executor, SignedWorld } from './world.js';

let world: SignedWorld;
let url: string;

/** An agent whose turns the engine ends: by an error, by a cancel, or by the deadline. */
const agent = executor(async (context, events) => {
  await events.artifact('begun', { artifactId: 'a' });
  if (context.text === 'throw') throw new Error('secret');
  if (context.text === 'silent') return events.complete();
  await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
});

beforeAll(async () => {
  world = await SignedWorld.make();
  const limits = { turnDeadlineMs: 1_500 };
  const push = { allow: ['127.0.0.1'] };
  ({ url } = await world.listen(agent, {}, { versions: ['1.0', '0.3'], push, limits }));
});
afterAll(() => world[Symbol.asyncDispose]());

const trust = () => ({ audience: AUDIENCE, agent: { keys: [world.agent.shown] } });

/** A webhook that checks every notification as it arrives. */
async function checkingReceiver() {
  const events: StreamResponse[] = [];
  const artifacts: Artifact[] = [];
  const receiver = new PushReceiver({
    allowAnonymous: true,
    onNotification: async ({ event }) => {
      if (event.artifactUpdate !== undefined) artifacts.push(event.artifactUpdate.artifact);
      else if (event.statusUpdate !== undefined) await verifySigned({ ...event, artifacts }, trust());
      else await verifySigned(event as SignedContent, trust());
      events.push(event);
    },
  });
  const server = createServer(receiver.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { events, artifacts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

const stateOf = (event: StreamResponse | undefined) => {
  if (event === undefined || event.message !== undefined || event.artifactUpdate !== undefined) return undefined;
  return (event.task !== undefined ? event.task : event.statusUpdate).status.state;
};

describe.each<[string, ConnectOptions]>([
  ['1.0', { binding: 'JSONRPC', version: '1.0' }],
  ['0.3', { binding: 'JSONRPC', version: '0.3' }],
])('a push notification in %s', (_, options) => {
  it.each([
    ['FAILED by an error', 'throw', 'TASK_STATE_FAILED'],
    ['FAILED by the deadline', 'deadline', 'TASK_STATE_FAILED'],
    ['CANCELED', 'cancel', 'TASK_STATE_CANCELED'],
    ['COMPLETED without a text', 'silent', 'TASK_STATE_COMPLETED'],
  ])('of %s is signed', async (_name, text, state) => {
    const receiver = await checkingReceiver();
    const client = await world.client(url, {}, options);
    const stream = client.sendStreamingMessage({
      message: text,
      configuration: { taskPushNotificationConfig: { url: receiver.url } },
    });
    for await (const event of stream) if (event.artifactUpdate !== undefined && text === 'cancel') break;
    if (text === 'cancel') await client.cancelTask(stream.taskId ?? '');
    await vi.waitFor(() => expect(stateOf(receiver.events.at(-1))).toBe(state), { timeout: 10_000 });
  });
});

it('a changed push notification is refused', async () => {
  const receiver = await checkingReceiver();
  const client = await world.client(url);
  const configuration = { taskPushNotificationConfig: { url: receiver.url } };
  await client.sendMessage({ message: 'throw', configuration });
  await vi.waitFor(() => expect(stateOf(receiver.events.at(-1))).toBe('TASK_STATE_FAILED'), { timeout: 10_000 });
  const [end] = receiver.events
    .flatMap((event) => (event.statusUpdate !== undefined ? [event.statusUpdate] : []))
    .slice(-1);
  if (end === undefined) throw new Error('no end');
  await verifySigned({ statusUpdate: end }, trust());
  await expect(verifySigned({ statusUpdate: end, artifacts: [] }, trust())).rejects.toThrow('other artifacts');
  const canceled = { ...end, status: { ...end.status, state: 'TASK_STATE_CANCELED' as const } };
  await expect(verifySigned({ statusUpdate: canceled }, trust())).rejects.toThrow('not over this content');
  const { metadata: _, ...unsigned } = end;
  await expect(verifySigned({ statusUpdate: unsigned }, trust())).rejects.toThrow('is missing');
});
