import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { generator } from './generator.js';
import { type Arrival, UnsteadyReceiver } from './unsteady-receiver.js';

const kills = process.env.TEST_LONG ? 30 : 5;
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
/** The library as it is built: only that can start the store's threads. */
const built = new URL('../../packages/parley/dist/exports/storage.js', import.meta.url).href;

let folder: string;
let database: string;
let child: ChildProcess | undefined;
const random = generator(seed);
const receiver = new UnsteadyReceiver(random);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-push-crash-'));
  database = `sqlite:${join(folder, 'tasks.db')}`;
  await receiver.open();
});

afterAll(async () => {
  child?.kill('SIGKILL');
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(...args: readonly string[]): Promise<string> {
  const server = fileURLToPath(new URL('push-server.mjs', import.meta.url));
  child = spawn(process.execPath, [server, database, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  if (!child.stdout) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the server did not start');
}

async function kill(): Promise<void> {
  const process = child;
  await new Promise<void>((resolve) => {
    process?.once('exit', () => resolve());
    process?.kill('SIGKILL');
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes a call, during which the server may die. */
async function call(address: string, method: string, params: object, version = '1.0') {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json', 'a2a-version': version };
  try {
    const response = await fetch(`${address}/a2a/jsonrpc`, { method: 'POST', headers, body });
    return (await response.json()) as { readonly result?: { readonly task?: { readonly id: string } } };
  } catch {
    return {};
  }
}

/** Starts tasks with webhooks of both versions, and with several webhooks. */
async function load(address: string): Promise<void> {
  await Promise.all(
    Array.from({ length: 5 }, async (_, at) => {
      const messageId = crypto.randomUUID();
      if (at % 2 === 0) {
        const message = { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text: 'old' }] };
        const pushNotificationConfig = { id: 'old', url: receiver.url };
        await call(
          address,
          'message/send',
          { message, configuration: { blocking: false, pushNotificationConfig } },
          '0.3',
        );
        return;
      }
      const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'new' }] };
      const taskPushNotificationConfig = { id: 'new', url: receiver.url };
      const configuration = { returnImmediately: true, taskPushNotificationConfig };
      const { result } = await call(address, 'SendMessage', { message, configuration });
      const taskId = result?.task?.id;
      if (taskId === undefined) return;
      for (const id of ['later-1', 'later-2']) {
        await call(address, 'CreateTaskPushNotificationConfig', { taskId, id, url: receiver.url });
      }
    }),
  );
}

async function openStored(): Promise<TaskStorage> {
  const { openStorage } = (await import(/* @vite-ignore */ built)) as {
    openStorage: (url: string) => Promise<TaskStorage>;
  };
  return openStorage(database);
}

/** The sequence numbers of the arrivals of a queue, each at its first time. */
function firstTimes(queue: string, wanted: (arrival: Arrival) => boolean): number[] {
  const of = receiver.arrivals.filter((arrival) => arrival.queue === queue && wanted(arrival));
  return [...new Set(of.map(({ seq }) => seq))];
}

describe('a server that is killed while it pushes to an unsteady receiver', () => {
  it(`delivers every event at least once, in order, with its id, after ${kills} kills (seed ${seed})`, async () => {
    for (let round = 0; round < kills; round += 1) {
      const address = await start();
      const loading = load(address);
      await pause(150 + random() * 500);
      await receiver.restart();
      await pause(random() * 300);
      await kill();
      await loading;
    }
    receiver.steady();
    await start('until-done');
    await new Promise((resolve) => child?.once('exit', resolve));

    const storage = await openStored();
    const { queues } = await storage.push.queues({ agents: ['/'], limit: 10_000 });
    expect(queues.length).toBeGreaterThan(kills * 3);
    for (const { key, configId, position, last, parked } of queues) {
      const queue = `${key.id}/${configId}`;
      expect({ position, parked }, queue).toEqual({ position: last, parked: undefined });
      const all = Array.from({ length: last }, (_, at) => at + 1);
      for (const wanted of [() => true, ({ acknowledged }: Arrival) => acknowledged]) {
        const seqs = firstTimes(queue, wanted);
        // A webhook that was added later gets all events after its first one.
        const from = configId.startsWith('later') ? (seqs[0] ?? last + 1) : 1;
        expect(seqs, queue).toEqual(all.slice(from - 1));
      }
      await checkBodies(storage, key, configId);
    }
    await storage.close();
  }, 120_000);
});

async function checkBodies(
  storage: TaskStorage,
  key: {
    readonly scope: { readonly agent: string; readonly tenant: string; readonly owner: string | null };
    readonly id: string;
  },
  configId: string,
): Promise<void> {
  const { records } = await storage.records(key, 0, 10_000_000);
  for (const { queue, seq, body, version } of receiver.arrivals) {
    if (queue !== `${key.id}/${configId}`) continue;
    expect(version).toBe(configId === 'old' ? '0.3' : '1.0');
    if (version === '1.0') expect(JSON.parse(body)).toEqual(JSON.parse(records[seq - 1]?.text ?? 'null'));
    else expect(JSON.parse(body)).toMatchObject({ kind: 'task', id: key.id });
  }
}
