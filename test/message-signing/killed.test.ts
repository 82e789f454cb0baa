import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { StreamResponse, Task } from 'parley-a2a';
import { textOf } from 'parley-a2a/client';
import { ENCRYPTION_EXTENSION, verifySigned } from 'parley-a2a/signing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AUDIENCE, keyPair, SignedWorld, taskOf } from './world.js';

let folder: string;
let child: ChildProcess | undefined;
let world: SignedWorld;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-signing-'));
  world = await SignedWorld.make();
});

afterAll(async () => {
  await kill();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the server; resolves to its address. */
async function start(port = '0'): Promise<string> {
  const server = fileURLToPath(new URL('killed-server.mjs', import.meta.url));
  const place = [`sqlite:${join(folder, 'tasks.db')}`, join(folder, 'signing.json'), port];
  child = spawn(process.execPath, [server, ...place], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (!child.stdout) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the server did not start');
}

async function kill(): Promise<void> {
  const killed = child;
  child = undefined;
  if (killed === undefined || killed.exitCode !== null) return;
  await new Promise<void>((resolve) => {
    killed.once('exit', () => resolve());
    killed.kill('SIGKILL');
  });
}

it('signatures of a streamed artifact go on after SIGKILL, for a late subscriber and in the stored task', async () => {
  const [agentKey, ownKey] = [await keyPair('agent-enc', 'ECDH-ES+A256KW'), await keyPair('own-enc', 'ECDH-ES+A256KW')];
  const options = {
    audience: AUDIENCE,
    required: true,
    trust: [{ id: 'shop', keys: [world.caller.shown] }],
    keys: [world.agent.own],
    encryption: { keys: [agentKey.own], required: true },
  };
  await writeFile(join(folder, 'signing.json'), JSON.stringify(options));
  const url = await start();
  const encryption = { to: { keys: [agentKey.shown] }, keys: [ownKey.own] };
  const client = await world.client(url, { encryption });
  const configuration = { returnImmediately: true };
  const { id } = taskOf(await client.sendMessage({ message: 'secretly one two three four five', configuration }));
  const words = (task: Task) => textOf({ ...task, status: { state: task.status.state } });
  await vi.waitFor(async () => expect(words(await client.getTask(id))).toContain('two'), { timeout: 10_000 });
  await kill();

  await start(new URL(url).port);
  const events: StreamResponse[] = [];
  for await (const event of client.subscribeToTask(id)) events.push(event);
  expect(events[0]).toHaveProperty('task');
  const task = await client.getTask(id);
  expect(task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : ''))).toEqual([
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
