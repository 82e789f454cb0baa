import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stubborn } from './agents/all.mjs';
import { Caller, saysOf, stateOf } from './caller.js';
import { Neighbour } from './neighbour.js';
import { DatabaseFolder, ServerProcess } from './server-process.js';

// Processes that start and end, on machines that have other things to do.
vi.setConfig({ testTimeout: 60_000 });

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

describe.each([
  ['memory', 'memory:'],
  ['SQLite', folder.url],
])('on %s, an agent that does not end', (_storage, database) => {
  let server: ServerProcess;
  let address: string;
  let neighbour: Neighbour;
  const canceled: string[] = [];

  beforeAll(async () => {
    server = await ServerProcess.start(database);
    address = await server.address;
    neighbour = new Neighbour(address);
  });
  afterAll(() => server.kill());

  it.concurrent.each(Object.keys(stubborn))('is canceled by force: one that %s', async (name) => {
    const caller = new Caller(address, 'bad');
    const { id } = await caller.start(name);
    const streamed = Promise.withResolvers<string>();
    const streaming = caller.stream(name, { task: streamed.resolve });
    const both = [id, await streamed.promise];
    const tasks = await Promise.all(both.map((each) => caller.cancel(each)));
    expect(tasks.map(stateOf)).toEqual(['CANCELED', 'CANCELED']);
    expect((await streaming).states.at(-1)).toBe('CANCELED');
    canceled.push(...both);
  });

  it.concurrent.each(['never settles', 'has a cancel() that hangs', 'is a generator that never yields'])(
    'fails at its deadline: one that %s',
    async (name) => {
      const task = await new Caller(address, 'late').send(name);
      expect([stateOf(task), saysOf(task)]).toEqual(['FAILED', 'The agent did not finish within its time limit.']);
    },
  );

  it('changes nothing of its task any more', async () => {
    expect(canceled.length).toBe(2 * Object.keys(stubborn).length);
    const caller = new Caller(address, 'bad');
    const tasks = await Promise.all(canceled.map((id) => caller.task(id)));
    const again = await Promise.all(canceled.map((id) => caller.task(id)));
    expect(new Set(tasks.map(stateOf))).toEqual(new Set(['CANCELED']));
    expect(again).toEqual(tasks);
  });

  it('does not keep a server from closing', async () => {
    const caller = new Caller(address, 'bad');
    await caller.start('never settles');
    await caller.start('ignores its signal and goes on publishing');
    await neighbour.stop();
    const started = performance.now();
    await server.close();
    // Two graces of 300 ms, on a machine that has other things to do.
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(server.stderr).toBe('');
  });
});
