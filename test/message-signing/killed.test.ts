import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamResponse, Task } from 'parley-a2a';
import { textOf } from 'parley-a2a/client';
import { ENCRYPTION_EXTENSION, verifySigned } from 'parley-a2a-signing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { SignedServer, sealedSetup } from './signed-server.js';
import { AUDIENCE, SignedWorld, taskOf } from './world.js';

let folder: string;
let world: SignedWorld;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-signing-'));
  world = await SignedWorld.make();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('signatures of a streamed artifact go on after SIGKILL, for a late subscriber and in the stored task', async () => {
  const { signing: options, encryption } = await sealedSetup(world);
  const signing = join(folder, 'signing.json');
  const database = `sqlite:${join(folder, 'tasks.db')}`;
  await writeFile(signing, options);
  await using first = await SignedServer.start(database, { signing, isStuck: true });
  const { url, port } = first;
  const client = await world.client(url, { encryption });
  const configuration = { returnImmediately: true };
  const { id } = taskOf(await client.sendMessage({ message: 'secretly one two three four five', configuration }));
  const words = (task: Task) => textOf({ ...task, status: { state: task.status.state } });
  await vi.waitFor(async () => expect(words(await client.getTask(id))).toContain('two'), { timeout: 10_000 });
  await first.kill();

  await using _second = await SignedServer.start(database, { signing, port });
  const events: StreamResponse[] = [];
  for await (const event of client.subscribeToTask(id)) events.push(event);
  expect(events[0]).toHaveProperty('task');
  const task = await client.getTask(id);
  expect(task.artifacts?.[0]?.parts.map((part) => (part.text !== undefined ? part.text : ''))).toEqual([
    'by shop:',
    ...'secretly one two three four five'.split(' '),
  ]);
  expect(task.artifacts?.[0]?.metadata).toMatchObject({ last: 5 });
  expect(task.status.message?.parts).toEqual([{ text: 'wrote 6 words for shop' }]);
  const reader = await world.client(url, {}, { extensions: [ENCRYPTION_EXTENSION] });
  await verifySigned({ task: await reader.getTask(id) }, { audience: AUDIENCE, agent: { keys: [world.agent.shown] } });

  for (const name of await readdir(folder))
    expect(await readFile(join(folder, name), 'latin1')).not.toContain('secretly');
});
