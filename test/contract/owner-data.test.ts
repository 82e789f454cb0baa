import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { directoryFileStore } from '../../packages/parley/src/exports/files.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { MemoryStorage } from '../../packages/parley/src/store/memory/memory-storage.js';
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
