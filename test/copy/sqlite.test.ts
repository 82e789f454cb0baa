import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { copyStorage } from '../../packages/parley/src/exports/storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { testCopy } from './live-log.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const end = async () => {
  const path = files.fresh();
  return { url: `sqlite:${path}`, path, open: () => files.open(systemClock, { path }) };
};

describe('a copy from SQLite to SQLite', () => {
  testCopy({ source: end, target: end });

  it('is refused while a server uses one of the files, and changes neither', async () => {
    const [used, other] = [await end(), await end()];
    const storage = await used.open();
    await expect(copyStorage({ from: used.url, to: other.url })).rejects.toThrow(/another server uses it/);
    expect(existsSync(other.path)).toBe(false);
    const free = await end();
    await (await free.open()).close();
    await expect(copyStorage({ from: free.url, to: used.url })).rejects.toThrow(/another server uses it/);
    await storage.close();
  });

  it('leaves the source as it is', async () => {
    const [source, target] = [await end(), await end()];
    const storage = await source.open();
    const scope = { agent: '/', tenant: '', owner: null };
    await storage.create(scope, { id: 'one', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } });
    await storage.close();
    const hash = () => createHash('sha256').update(readFileSync(source.path)).digest('hex');
    const before = hash();
    await copyStorage({ from: source.url, to: target.url });
    expect(hash()).toBe(before);
  });

  it('needs a source that is there, and two different databases', async () => {
    const [source, target] = [await end(), await end()];
    await expect(copyStorage({ from: source.url, to: target.url })).rejects.toThrow(/there is no such file/);
    expect(existsSync(target.path)).toBe(false);
    await expect(copyStorage({ from: source.url, to: source.url })).rejects.toThrow(/two different databases/);
    await expect(copyStorage({ from: 'memory:', to: target.url })).rejects.toThrow(/memory:/);
  });
});
