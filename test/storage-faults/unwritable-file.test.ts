import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Caller, until } from './calls.js';
import { ServerProcess } from './server-process.js';
import { reasonFor } from './small-disk.js';
import { checkWhole } from './whole-file.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));

/** Makes writes fail even to open files, as on a disk that has become read-only. */
function immutable(path: string, on: boolean): void {
  execFileSync('chattr', [on ? '+i' : '-i', path], { stdio: 'pipe' });
}

const missing = reasonFor(() => {
  const probe = join(folder, 'probe');
  writeFileSync(probe, '');
  immutable(probe, true);
  immutable(probe, false);
});
if (missing) process.stdout.write(`left out: a file that cannot be written any more (chattr must work): ${missing}\n`);

it.skipIf(missing)(
  'a log that cannot be written any more stops writes, not the server, until it can',
  async () => {
    const path = join(folder, 'tasks.db');
    try {
      await using server = await ServerProcess.start(path);
      const caller = new Caller(server.addresses);
      const stream = caller.stream('steady 50');
      await until('the stream flows', () => stream.ids.length > 5);
      immutable(`${path}-wal`, true);
      try {
        await until('a message is refused', async () => (await caller.sendRest('quick')).status === 503);
        expect(await caller.task(stream.taskId)).toMatchObject({ status: 200 });
        expect(await caller.call('ListTasks', {})).toMatchObject({ status: 200 });
        expect(server.linesWith('the storage cannot write')).toHaveLength(1);
      } finally {
        immutable(`${path}-wal`, false);
      }
      await stream.done;
      expect(stream.ids).toEqual(stream.ids.map((_, at) => at + 1));
      await until('the log says that it is over', () => server.linesWith('the storage can write again').length === 1);
      expect(await caller.sendRest('quick')).toMatchObject({ status: 200 });
      expect(await server.stop()).toBe(0);
      expect((await checkWhole(path)).get(stream.taskId)).toBe('TASK_STATE_COMPLETED');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
