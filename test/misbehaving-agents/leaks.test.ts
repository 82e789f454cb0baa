import { afterAll, expect, it, vi } from 'vitest';
import { afterwards, endings, failures, garbage } from './agents/all.mjs';
import { Caller } from './caller.js';
import { DatabaseFolder, ServerProcess } from './server-process.js';

// Processes that start and end, on machines that have other things to do.
vi.setConfig({ testTimeout: 60_000 });

const ROUNDS = process.env.TEST_LONG ? 30 : 6;
/** Of its heap; a turn with all that hangs on it takes more. */
const BYTES_PER_TASK = 2_000;

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

it('nothing of a task stays when an agent has misbehaved: no memory, no listener, no timer', async () => {
  const server = await ServerProcess.start(folder.url);
  try {
    const caller = new Caller(await server.address, 'bad');
    // Large events would hide leaks.
    const names = Object.keys({ ...garbage, ...failures, ...afterwards, ...endings }).filter(
      (name) => !/larger|bytes/.test(name),
    );
    const round = async () => {
      for (let at = 0; at < names.length; at += 8) {
        await Promise.all(names.slice(at, at + 8).map((name) => caller.send(name)));
      }
    };
    for (let warm = 0; warm < 3; warm += 1) await round();
    const before = await server.footprint();
    for (let turn = 0; turn < ROUNDS; turn += 1) await round();

    const measureGrowth = async () => ((await server.footprint()).heapUsed - before.heapUsed) / (ROUNDS * names.length);
    // Agents that do not return are let go of after the grace.
    await expect.poll(measureGrowth, { timeout: 15_000, interval: 100 }).toBeLessThan(BYTES_PER_TASK);
    const timers = async () => (await server.footprint()).timers;
    await expect.poll(timers, { timeout: 15_000, interval: 100 }).toBeLessThanOrEqual(before.timers);
    expect((await server.footprint()).listeners).toBe(before.listeners);
  } finally {
    await server.kill();
  }
});

it('of what an agent has produced nothing stays in memory, although it never returns', async () => {
  const server = await ServerProcess.start(folder.url);
  try {
    const caller = new Caller(await server.address, 'bad');
    const startStuck = async () => {
      const { id } = await caller.start('has produced much and never settles');
      await expect.poll(async () => (await caller.task(id)).artifacts?.length, { timeout: 15_000 }).toBe(1);
      await caller.cancel(id);
    };
    await startStuck();
    const before = await server.footprint();
    await Promise.all(Array.from({ length: 20 }, startStuck));
    const measureGrowth = async () => (await server.footprint()).heapUsed - before.heapUsed;
    await expect.poll(measureGrowth, { timeout: 15_000, interval: 100 }).toBeLessThan(5_000_000);
  } finally {
    await server.kill();
  }
});
