import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { silentLogger } from '../../packages/parley/src/exports/index.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { sealedStorage } from '../../packages/parley/src/store/sealed-storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { ALICE, newTask } from '../contract/storage/task-play.js';
import { EmptyFolder, parley } from './parley.js';

const OLD = 'a'.repeat(64);
const NEW = 'b'.repeat(64);
const files = new SqliteFiles();
const folder = new EmptyFolder();
afterAll(() => {
  files.remove();
  folder[Symbol.dispose]();
});

it('parley push reseal encrypts stored credentials with the first key, and reports unused keys', async () => {
  const path = files.fresh();
  const raw = await files.open(systemClock, { path });
  const storage = sealedStorage(raw, { keys: [OLD], logger: silentLogger });
  const config = { id: 'c', taskId: 't1', url: 'https://example.com/hook', token: 'pl4nted-s3cret-token' };
  await storage.create(ALICE, newTask({ clock: systemClock } as never, 't1'));
  await storage.push.putConfig(ALICE, config);
  await raw.close();
  const keysFile = join(folder.path, 'keys.txt');
  writeFileSync(keysFile, `${NEW}\n${OLD}\n`, { mode: 0o600 });
  const auditFile = join(folder.path, 'audit.jsonl');
  const reseal = async (env: Record<string, string>, ...args: string[]) => {
    const { code, stdout } = await parley(['push', 'reseal', '--database', `sqlite:${path}`, '-o', 'json', ...args], {
      env: { ...env, A2A_AUDIT_FILE: auditFile },
    });
    return { code, ...JSON.parse(stdout) };
  };
  const none = { current: 0, resealed: 0, old: 0, unreadable: 0 };
  expect(await reseal({ A2A_SECRET_KEYS: NEW })).toEqual({ ...none, code: 1, unreadable: 1 });
  expect(await reseal({}, '--secret-keys-file', keysFile, '--dry-run')).toEqual({ ...none, code: 1, old: 1 });
  expect(await reseal({}, '--secret-keys-file', keysFile)).toEqual({ ...none, code: 0, resealed: 1 });
  expect(await reseal({ A2A_SECRET_KEYS: NEW })).toEqual({ ...none, code: 0, current: 1 });
  // The dry run has no record.
  const lines = readFileSync(auditFile, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { operation: 'resealConfigs', outcome: 'failed', code: 'INTERNAL_ERROR', principal: { kind: 'operator' } },
    { operation: 'resealConfigs', outcome: 'done', code: 'OK' },
    { operation: 'resealConfigs', outcome: 'done', code: 'OK' },
  ]);
  expect(lines.join()).not.toMatch(/s3cret|a{64}|b{64}/);
});

it('parley push reseal needs keys', async () => {
  const { code, stderr } = await parley(['push', 'reseal', '--database', `sqlite:${files.fresh()}`]);
  expect(code).toBe(2);
  expect(stderr).toContain('--secret-keys-file names the keys');
});
