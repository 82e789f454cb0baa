import { afterAll, describe, expect, it, vi } from 'vitest';
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
])('an agent that holds the event loop, on %s,', (_storage, database) => {
  it('delays the others and takes nothing from them', async () => {
    const server = await ServerProcess.start(database);
    try {
      const address = await server.address;
      const caller = new Caller(address, 'bad');
      const neighbour = new Neighbour(address);
      let heard: (() => void) | undefined;
      const watched = Promise.withResolvers<string>();
      const watching = caller.stream('never settles, says it works', {
        task: watched.resolve,
        heartbeat: () => heard?.(),
      });
      const beat = () =>
        new Promise<void>((resolve) => {
          heard = resolve;
        });
      await beat();

      const task = await caller.send('holding#2000');
      expect([stateOf(task), saysOf(task)]).toEqual(['COMPLETED', 'after']);
      // The stream that was open all the while shows again that it lives, and its task can be canceled.
      await beat();
      expect(stateOf(await caller.cancel(await watched.promise))).toBe('CANCELED');
      expect((await watching).states).toEqual(['SUBMITTED', 'WORKING', 'CANCELED']);

      await neighbour.stop();
      expect(Math.max(...neighbour.latencies)).toBeGreaterThan(1_000);
      expect(server.stderr).toBe('');
    } finally {
      await server.kill();
    }
  });
});
