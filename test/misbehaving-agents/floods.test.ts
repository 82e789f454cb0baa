import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Caller, saysOf, stateOf } from './caller.js';
import { Neighbour } from './neighbour.js';
import { DatabaseFolder, type Footprint, ServerProcess } from './server-process.js';

// Processes that start and end, on machines that have other things to do.
vi.setConfig({ testTimeout: 60_000 });

const MB = 1_048_576;
const TOO_FAST = 'The agent published faster than its events can be stored.';
const folder = new DatabaseFolder();
afterAll(() => folder.remove());

describe.each([
  { name: 'memory', database: 'memory:', options: {}, count: 20_000 },
  { name: 'SQLite', database: folder.url, options: {}, count: 20_000 },
  // A commit takes 256 events at most, and 20 ms.
  { name: 'a slow store', database: 'memory:', options: { appendMs: 20 }, count: 5_000 },
])('a flood of events, on $name,', ({ database, options, count }) => {
  let server: ServerProcess;
  let caller: Caller;
  let neighbour: Neighbour;
  let before: Footprint;

  beforeAll(async () => {
    server = await ServerProcess.start(database, options);
    const address = await server.address;
    caller = new Caller(address, 'bad');
    await new Caller(address, 'good').send('warm up');
    before = await server.footprint();
    neighbour = new Neighbour(address);
  });
  afterAll(async () => {
    try {
      await neighbour.stop();
      expect(server.stderr).toBe('');
    } finally {
      await server.kill();
    }
  });

  it('goes as fast as the store where the agent waits for room', async () => {
    const { taskId, states, events } = await caller.stream(`waits for room#${count}`);
    expect(states.at(-1)).toBe('COMPLETED');
    expect(events).toBe(count + 3);
    const task = await caller.task(taskId);
    const text = Array.from({ length: count }, (_, event) => `event ${event} `).join('');
    expect(task.artifacts?.[0]?.parts).toEqual([{ text }]);
  });

  it.each(['waits for nothing', 'waits for nothing, with statuses'])(
    'fails its task where the agent %s',
    async (name) => {
      const task = await caller.send(`${name}#200000`);
      expect([stateOf(task), saysOf(task)]).toEqual(['FAILED', TOO_FAST]);
      expect(server.logs.filter(({ fields }) => fields.taskId === task.id)).toHaveLength(1);
    },
  );

  it('takes no memory that grows with it', async () => {
    const after = await server.footprint();
    expect(after.maxRss - before.rss).toBeLessThan(250 * MB);
  });
});
