import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { directoryFileStore } from '../../packages/parley/src/exports/files.js';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
import { eraseOwner } from '../../packages/parley/src/user-data/erase-owner.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { ownerDataContract } from './owner-data-contract.js';

const files = new SqliteFiles();
const folder = mkdtempSync(join(tmpdir(), 'parley-owners-'));
afterAll(() => {
  files.remove();
  rmSync(folder, { recursive: true, force: true });
});
let folders = 0;

/** All names and bytes below a folder. */
function bytesBelow(path: string): string {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name}\n${statSync(join(path, name)).isFile() ? readFileSync(join(path, name), 'latin1') : ''}`)
    .join('\n');
}

async function newDirectory() {
  folders += 1;
  const path = join(folder, String(folders));
  return { store: directoryFileStore({ path }), contents: async () => bytesBelow(path) };
}

ownerDataContract('memory', async () => ({
  open: async () => new MemoryStorage({ clock: systemClock }),
  contents: async () => '',
}));

ownerDataContract(
  'SQLite and a directory',
  async () => {
    const path = files.fresh();
    return { open: () => files.open(systemClock, { path }), contents: async () => bytesBelow(dirname(path)) };
  },
  { newFiles: newDirectory },
);

it('the open tasks of a user are erased in few commits, because each may wait for the disk', async () => {
  const storage = await files.open(systemClock, {});
  const scope = { agent: '/', tenant: '', owner: 'test|ada' };
  const status = { state: 'TASK_STATE_INPUT_REQUIRED' } as const;
  const ids = Array.from({ length: 450 }, (_, at) => `t${at}`);
  await Promise.all(ids.map((id) => storage.create(scope, { id, status })));
  let commits = 0;
  storage.watchCommits(() => {
    commits += 1;
  });
  const erased = await eraseOwner({
    storage,
    owner: { owner: scope.owner },
    clock: systemClock,
    ids: systemIds,
  });
  expect(erased).toMatchObject({ tasks: 450 });
  expect(commits).toBeGreaterThan(0);
  expect(commits).toBeLessThan(45);
  await storage.close();
});
