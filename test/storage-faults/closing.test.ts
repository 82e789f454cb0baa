import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('a storage that is closed while a read is under way closes its file, and the process goes on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-closing-'));
  try {
    const args = [join(import.meta.dirname, 'closing-process.mjs'), join(folder, 'tasks.db')];
    for (let round = 0; round < 5; round += 1) {
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'closed' });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
