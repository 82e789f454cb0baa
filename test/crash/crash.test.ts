import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInterrupted, isTerminal } from '../../packages/parley/src/model/task-state.js';
import type { Scope } from '../../packages/parley/src/store/task-key.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import type { LogRecord } from '../../packages/parley/src/task/log-record.js';
import { TaskBuilder } from '../../packages/parley/src/task/task-builder.js';
import { generator } from './generator.js';
import { Load, type Said } from './said.js';

const kills = process.env.TEST_LONG ? 100 : 4;
/** A server is killed when its clients have seen up to so many events. */
const MOST_EVENTS = 100;
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const scope: Scope = { agent: '/', tenant: '', owner: null };
/** The library as it is built: only that can start the store's threads. */
const built = new URL('../../packages/parley/dist/exports/storage.js', import.meta.url).href;

let folder: string;
let url: string;
let child: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-crash-'));
  url = `sqlite:${join(folder, 'tasks.db')}`;
});

afterAll(async () => {
  child?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<string> {
  const server = fileURLToPath(new URL('crash-server.mjs', import.meta.url));
  child = spawn(process.execPath, [server, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (!child.stdout) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the server did not start');
}

function killProcess(process: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    process.once('exit', () => resolve());
    process.kill('SIGKILL');
  });
}

async function open(): Promise<TaskStorage> {
  const { openStorage } = (await import(/* @vite-ignore */ built)) as {
    openStorage: (url: string) => Promise<TaskStorage>;
  };
  return openStorage(url);
}

async function recordsOf(storage: TaskStorage, id: string): Promise<readonly LogRecord[]> {
  const found: LogRecord[] = [];
  for (;;) {
    const { records } = await storage.records({ scope, id }, found.length, 1_048_576);
    if (records.length === 0) return found;
    found.push(...records);
  }
}

/** Checks that the store contains everything that clients received, and is consistent. */
async function check(storage: TaskStorage, said: Said): Promise<void> {
  for (const [id, events] of said.events) {
    const records = await recordsOf(storage, id);
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
    for (const [seq, shown] of events) expect(JSON.parse(records[seq - 1]?.text ?? 'null')).toEqual(JSON.parse(shown));
    const first = records[0]?.event;
    if (!first || first.task === undefined) throw new Error(`the log of ${id} does not begin with the task`);
    const builder = new TaskBuilder(first.task);
    for (const record of records.slice(1)) builder.apply(record);
    expect((await storage.task(scope, id))?.task).toEqual(builder.view());
  }
  for (const [id, state] of said.answers) {
    if (id === '') continue;
    const stored = await storage.task(scope, id);
    expect(stored, `task ${id} is gone`).toBeDefined();
    if (isTerminal(state as never)) expect(stored?.task.status.state).toBe(state);
  }
}

describe('a server killed in the middle of its work', () => {
  it(`has lost nothing it said, ${kills} times over (seed ${seed})`, async () => {
    const random = generator(seed);
    const tasks = new Set<string>();
    let events = 0;
    for (let round = 0; round < kills; round += 1) {
      const load = new Load(await start(), random);
      const running = load.run(16);
      const wanted = random() * MOST_EVENTS;
      await vi.waitFor(() => expect(load.eventCount).toBeGreaterThanOrEqual(wanted), { timeout: 60_000, interval: 5 });
      if (child) await killProcess(child);
      load.stop();
      await running;
      const storage = await open();
      await check(storage, load.said);
      await storage.close();
      for (const [id, seen] of load.said.events) {
        tasks.add(id);
        events += seen.size;
      }
      for (const id of load.said.answers.keys()) if (id) tasks.add(id);
    }
    expect(events).toBeGreaterThan(kills * 10);

    // Every task ends or waits for its caller. The turn of an answered question shows nothing before it begins, so the
    // first kill may be in the middle of it. It goes on with the next start.
    let left = tasks;
    for (let starts = 0; left.size > 0 && starts < 5; starts += 1) {
      await waitUntilSettled(await start());
      if (child) await killProcess(child);
      left = await unsettled(left);
    }
    expect([...left], 'tasks that no server goes on with').toEqual([]);
  }, 600_000);
});

/** Until the server has no task at work any more. A task leaves SUBMITTED for WORKING, so that is counted last. */
async function waitUntilSettled(address: string): Promise<void> {
  for (const state of ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']) {
    await vi.waitFor(async () => expect(await count(address, state), state).toBe(0), { timeout: 60_000, interval: 5 });
  }
}

/** Returns the tasks that neither have ended nor wait for their caller. */
async function unsettled(tasks: ReadonlySet<string>): Promise<Set<string>> {
  const storage = await open();
  const left = new Set<string>();
  for (const id of tasks) {
    const state = (await storage.task(scope, id))?.task.status.state;
    if (state === undefined || !(isTerminal(state) || isInterrupted(state))) left.add(id);
  }
  await storage.close();
  return left;
}

async function count(address: string, status: string): Promise<number> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { status, pageSize: 1 } }),
  });
  const { result } = (await response.json()) as { result: { totalSize: number } };
  return result.totalSize;
}
