import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Caller, taskOf, until } from './calls.js';
import { ServerProcess } from './server-process.js';
import { checkWhole } from './whole-file.js';

it('a server whose storage loses its threads under load loses nothing, repeats nothing and goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  const path = join(folder, 'tasks.db');
  try {
    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    const kills = process.env.TEST_LONG ? 50 : 5;
    const streams = [1, 2, 3].flatMap(() => [caller.stream('steady 200'), caller.streamRest('steady 200')]);
    await until('every stream flows', () => streams.every(({ ids }) => ids.length > 5));
    const promised: string[] = [];
    let loading = true;
    const load = [1, 2, 3, 4].map(async (client) => {
      while (loading) {
        const answer = await (client % 2 === 0 ? caller.send('quick') : caller.sendRest('quick'));
        promised.push(taskOf(answer).id);
        await caller.call('ListTasks', { pageSize: 5 });
      }
    });
    for (let kill = 0; kill < kills; kill += 1) {
      const [died, before] = [deaths(server), promised.length];
      server.endThreads();
      await until('a thread has died and others were answered', () => {
        return deaths(server) > died && promised.length > before + 8;
      });
    }
    loading = false;
    await Promise.all([...load, ...streams.map(({ done }) => done)]);
    for (const { ended, ids, states } of streams) {
      expect(ended).toBe(true);
      expect(ids).toEqual(ids.map((_, at) => at + 1));
      expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
    }
    expect(await server.stop()).toBe(0);
    const states = await checkWhole(path);
    for (const id of [...promised, ...streams.map(({ taskId }) => taskId)]) {
      expect(states.get(id)).toBe('TASK_STATE_COMPLETED');
    }
    expect(new Set(states.values())).toEqual(new Set(['TASK_STATE_COMPLETED']));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);

function deaths(server: ServerProcess): number {
  return server.linesWith('a thread of the storage has died').length;
}
