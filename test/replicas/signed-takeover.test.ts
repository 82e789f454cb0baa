import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamResponse, Task } from 'parley-a2a';
import { textOf } from 'parley-a2a/client';
import { ENCRYPTION_EXTENSION, verifySigned } from 'parley-a2a-signing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SignedServer, sealedSetup } from '../message-signing/signed-server.js';
import { AUDIENCE, SignedWorld, taskOf } from '../message-signing/world.js';
import { backendsFrom, Cluster } from './backends.js';

const LONG = { timeout: 90_000 };
const PATIENCE = { timeout: 30_000, interval: 50 };

describe.each(backendsFrom('PostgreSQL'))('a signing agent on %s', (backend) => {
  const cluster = new Cluster(backend);
  let folder: string;
  let signing: string;
  let world: SignedWorld;
  let encryption: Awaited<ReturnType<typeof sealedSetup>>['encryption'];
  let database: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-signing-'));
    world = await SignedWorld.make();
    const setup = await sealedSetup(world);
    ({ encryption } = setup);
    signing = join(folder, 'signing.json');
    await writeFile(signing, setup.signing);
    database = (await cluster.server).url;
  }, 60_000);
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const trust = () => ({ audience: AUDIENCE, agent: { keys: [world.agent.shown] } });
  const clientOf = ({ url }: SignedServer) => world.client(url, { encryption });
  const configuration = { returnImmediately: true };
  const words = (task: Task) => textOf({ ...task, status: { state: task.status.state } });
  const boots = async () => {
    const one = await SignedServer.start(database, { signing, isStuck: true });
    const two = await SignedServer.start(database, { signing });
    const both = { one, two };
    return Object.assign(both, {
      [Symbol.asyncDispose]: async () => void (await Promise.all([one.kill(), two.kill()])),
    });
  };

  it('another replica goes on with the signatures of a streamed artifact, also for its watchers', LONG, async () => {
    await using replicas = await boots();
    const [sender, watcher] = [await clientOf(replicas.one), await clientOf(replicas.two)];
    const { id } = taskOf(await sender.sendMessage({ message: 'secretly one two three four', configuration }));
    await vi.waitFor(async () => expect(words(await watcher.getTask(id))).toContain('two'), PATIENCE);
    const events: StreamResponse[] = [];
    const watching = (async () => {
      for await (const event of watcher.subscribeToTask(id)) events.push(event);
    })();
    await vi.waitFor(() => expect(events[0]).toHaveProperty('task'), PATIENCE);
    await replicas.one.kill();
    await watching;
    expect(events.some((event) => event.artifactUpdate !== undefined)).toBe(true);
    const task = await watcher.getTask(id);
    expect(task.artifacts?.[0]?.parts.map((part) => (part.text !== undefined ? part.text : ''))).toEqual([
      'by shop:',
      ...'secretly one two three four'.split(' '),
    ]);
    expect(task.status.message?.parts).toEqual([{ text: 'wrote 5 words for shop' }]);
    const reader = await world.client(replicas.two.url, {}, { extensions: [ENCRYPTION_EXTENSION] });
    const stored = await reader.getTask(id);
    expect(JSON.stringify(stored)).not.toContain('secretly');
    await verifySigned({ task: stored }, trust());
  });

  it('any replica signs the end that another one wrote', LONG, async () => {
    await using replicas = await boots();
    const [sender, other] = [await clientOf(replicas.one), await clientOf(replicas.two)];
    const { id, contextId } = taskOf(await sender.sendMessage({ message: 'wait', configuration }));
    expect((await other.cancelTask(id)).status.state).toBe('TASK_STATE_CANCELED');
    for (const client of [sender, other]) await verifySigned({ task: await client.getTask(id) }, trust());
    const { tasks } = await other.listTasks({ contextId: contextId ?? '' });
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED']);
  });

  it('a question for an authorization is signed and encrypted for every replica', LONG, async () => {
    await using replicas = await boots();
    const [sender, other] = [await clientOf(replicas.one), await clientOf(replicas.two)];
    const { id } = taskOf(await sender.sendMessage({ message: 'login', configuration }));
    await vi.waitFor(
      async () => expect((await other.getTask(id)).status.state).toBe('TASK_STATE_AUTH_REQUIRED'),
      PATIENCE,
    );
    const [question] = (await other.getTask(id)).status.message?.parts ?? [];
    expect(question).toEqual({ text: 'secretly log in' });
    expect((await other.cancelTask(id)).status.state).toBe('TASK_STATE_CANCELED');
  });
});
