import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { DirectoryFileStore } from '../../packages/parley/src/files/directory/directory-file-store.js';
import type { Scope } from '../../packages/parley/src/store/task-key.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { foundIn } from '../contract/owner-data-contract.js';
import { EmptyFolder, parley, parleyJson, RunningParley } from './parley.js';

const files = new SqliteFiles();
const folder = new EmptyFolder();
afterAll(() => {
  files.remove();
  folder[Symbol.dispose]();
});
let places = 0;

const ADA = 'apikey|m4rk-of-ada';
const BOB = 'apikey|m4rk-of-bob';
const LIMITS = { maxBytes: 1_000_000, ownerBytes: 10_000_000 };
/** A name that would leave the folder of an export. */
const ESCAPING = '../../../escaped';

/** All names and bytes below a folder. */
function bytesBelow(path: string): string {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name}\n${statSync(join(path, name)).isFile() ? readFileSync(join(path, name), 'latin1') : ''}`)
    .join('\n');
}

/** Makes a database and a file store with the data of two owners. */
async function fillPlaces({ tasks = 3 } = {}) {
  places += 1;
  const path = files.fresh();
  const store = join(folder.path, `store-${places}`);
  const storage = await files.open(systemClock, { path });
  const fileStore = new DirectoryFileStore({ path: store, clock: systemClock, ids: systemIds });
  for (const owner of [ADA, BOB]) {
    const scope: Scope = { agent: '/', tenant: 't', owner };
    await Promise.all(
      Array.from({ length: tasks }, (_, at) => {
        const status = { state: 'TASK_STATE_INPUT_REQUIRED', timestamp: '2026-01-01T00:00:00.000Z' } as const;
        const history = [{ messageId: `m${at}`, role: 'ROLE_USER' as const, parts: [{ text: `said by ${owner}` }] }];
        return storage.create(scope, { id: `t${at}`, contextId: owner, status, history });
      }),
    );
    const hook = {
      url: `https://hooks.example/${owner}`,
      token: owner,
      authentication: { scheme: 'x', credentials: owner },
    };
    await storage.push.putConfig(scope, { id: 'c', taskId: 't0', ...hook });
    const bytes = new TextEncoder().encode(`bytes of ${owner}`);
    const file = {
      id: 'a'.repeat(32),
      createdAt: Date.now(),
      expiresAt: Date.now() + 3_600_000,
      chunks: (async function* () {
        yield bytes;
      })(),
      finish: () => ({ filename: `${ESCAPING}-${owner}`, mediaType: 'text/plain', digest: 'digest' }),
    };
    await fileStore.put(scope, file, LIMITS);
  }
  const contents = () => bytesBelow(dirname(path)) + bytesBelow(store);
  const places_ = ['--database', `sqlite:${path}`, '--file-store', store];
  await storage.close();
  return { path, store, contents, args: ['--owner', ADA, ...places_], places: places_ };
}

const bytesAreGone = (contents: string) => foundIn(contents, 'm4rk-of-ada');

it('db erase counts with --dry-run, and erases with an audit record before and after', async () => {
  const { contents, args } = await fillPlaces();
  const audit = join(folder.path, 'audit.jsonl');
  const dry = await parleyJson(['db', 'erase', ...args, '--dry-run']);
  expect(dry).toEqual({ scopes: 1, tasks: 3, openTasks: 3, idempotencyKeys: 0, files: 1, uploads: 0, dryRun: true });
  expect(bytesAreGone(contents())).not.toEqual([]);
  const erased = await parleyJson(['db', 'erase', ...args, '--yes', '--audit-file', audit]);
  const counts = { scopes: 1, tasks: 3, canceledTurns: 0, idempotencyKeys: 0, files: 1, uploads: 0 };
  expect(erased).toEqual(counts);
  expect(bytesAreGone(contents())).toEqual([]);
  expect(foundIn(contents(), 'm4rk-of-bob')).not.toEqual([]);
  const text = readFileSync(audit, 'utf8');
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    {
      operation: 'eraseOwner',
      principal: { kind: 'operator' },
      phase: 'begin',
      owner: expect.stringMatching(/^sha256:/),
    },
    { operation: 'eraseOwner', phase: 'end', outcome: 'done', counts },
  ]);
  expect(text).not.toContain('m4rk');
});

it('db erase asks for a confirmation, and refuses without a terminal', async () => {
  const { contents, args } = await fillPlaces();
  const { code, stderr } = await parley(['db', 'erase', ...args], { input: `${ADA}\n` });
  expect(code).toBe(2);
  expect(stderr).toContain('--yes confirms');
  // A variable can neither confirm nor select the owner.
  const env = { A2A_YES: 'true', A2A_OWNER: ADA, A2A_ONLY_TENANT: 'none' };
  expect((await parley(['db', 'erase', ...args], { env })).code).toBe(2);
  expect((await parley(['db', 'erase', '--yes', ...args.slice(2)], { env })).code).toBe(2);
  expect(bytesAreGone(contents())).not.toEqual([]);
  expect((await parley(['db', 'erase', ...args, '--yes'], { env })).code).toBe(0);
  expect(bytesAreGone(contents())).toEqual([]);
});

it('db erase of an unknown id describes the form of ids, and the narrowing flags apply', async () => {
  const { args, places: where, contents } = await fillPlaces();
  const unknown = await parley(['db', 'erase', '--owner', 'm4rk-of-ada', ...where, '--yes']);
  expect(unknown.stderr).toContain('such as apikey|ada');
  for (const only of [
    ['--only-agent', '/x'],
    ['--only-tenant', ''],
  ]) {
    await parley(['db', 'erase', ...args, ...only, '--yes']);
    expect(bytesAreGone(contents())).not.toEqual([]);
  }
  await parley(['db', 'erase', ...args, '--only-agent', '/', '--only-tenant', 't', '--yes']);
  expect(bytesAreGone(contents())).toEqual([]);
});

it('db erase and db export of a file in use refer to the functions of its server', async () => {
  const { path, args } = await fillPlaces();
  const storage = await files.open(systemClock, { path });
  try {
    for (const command of [
      ['erase', '--yes'],
      ['export', '--to', join(folder.path, 'held')],
    ]) {
      const { code, stderr } = await parley(['db', ...command, ...args]);
      expect(code).toBe(2);
      expect(stderr).toContain('another server uses it');
      expect(stderr).toContain('eraseOwner() of that server');
    }
  } finally {
    await storage.close();
  }
});

/** Kills an erasure in the middle of its work. Each task costs a write that a slow disk delays, so they are few. */
async function killErasure() {
  for (;;) {
    const filled = await fillPlaces({ tasks: 200 });
    const size = () => statSync(`${filled.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const running = new RunningParley(['db', 'erase', ...filled.args, '--yes']);
    while (running.process.exitCode === null && size() === 0) await new Promise((resolve) => setImmediate(resolve));
    running.process.kill('SIGKILL');
    const { code, stderr } = await running.ended;
    if (bytesAreGone(filled.contents()).length > 0) return filled;
    // The kill came too late, as it may on a busy machine.
    expect([0, null], stderr).toContain(code);
  }
}

it('db erase completes the work of a killed run', async () => {
  const { args, contents } = await killErasure();
  expect((await parley(['db', 'erase', ...args, '--yes'])).code).toBe(0);
  expect(bytesAreGone(contents())).toEqual([]);
  expect(foundIn(contents(), 'm4rk-of-bob')).not.toEqual([]);
}, 90_000);

it('db export writes all records and files of this user only, and masks secrets of webhooks', async () => {
  const { args } = await fillPlaces();
  const to = join(folder.path, 'export');
  expect(await parleyJson(['db', 'export', ...args, '--to', to])).toEqual({
    ...{ tasks: 3, pushNotificationConfigs: 1, idempotencyKeys: 0, files: 1, to },
  });
  const records = readFileSync(join(to, 'records.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.at(0)).toMatchObject({ type: 'header', format: 1, owner: ADA });
  expect(records.at(-1)).toEqual({
    ...{ type: 'end', counts: { tasks: 3, pushNotificationConfigs: 1, idempotencyKeys: 0, files: 1 } },
  });
  const tasks = records.filter(({ type }) => type === 'task');
  expect(tasks.map(({ task }) => task.id).sort()).toEqual(['t0', 't1', 't2']);
  expect(tasks[0]).toMatchObject({ agent: '/', tenant: 't', task: { contextId: ADA } });
  const { config } = records.find(({ type }) => type === 'pushNotificationConfig');
  expect(config).toMatchObject({ url: 'https://hooks.example/***', token: '***' });
  expect(config.authentication).toEqual({ scheme: 'x', credentials: '***' });
  const file = records.find(({ type }) => type === 'file');
  // The name of an uploaded file is not used as a path.
  expect(file.path).toBe(`files/000001-${'a'.repeat(32)}`);
  expect(file.file.filename).toBe(`${ESCAPING}-${ADA}`);
  expect(readFileSync(join(to, file.path), 'utf8')).toBe(`bytes of ${ADA}`);
  expect(bytesBelow(to)).not.toContain('m4rk-of-bob');
  for (const path of ['', 'records.jsonl', 'files', file.path]) expect(statSync(join(to, path)).mode & 0o077).toBe(0);
});

it('db export replaces only an earlier export, and follows no symbolic link', async () => {
  const { args } = await fillPlaces();
  const run = (to: string, ...more: string[]) => parley(['db', 'export', ...args, '--to', to, ...more]);
  const other = join(folder.path, 'precious');
  mkdirSync(other);
  writeFileSync(join(other, 'thesis.txt'), 'precious');
  const link = join(folder.path, 'link');
  symlinkSync(other, link);
  const dangling = join(folder.path, 'dangling');
  symlinkSync(join(folder.path, 'nowhere'), dangling);
  for (const to of [other, link, dangling, join(other, 'thesis.txt'), folder.path, join(folder.path, 'a', 'b')]) {
    expect((await run(to, '--force')).code, to).toBe(2);
  }
  expect(readFileSync(join(other, 'thesis.txt'), 'utf8')).toBe('precious');
  expect(existsSync(join(folder.path, 'nowhere'))).toBe(false);
  const to = join(folder.path, 'twice');
  expect((await run(to)).code).toBe(0);
  const again = await run(to);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('--force');
  expect((await run(to, '--force')).code).toBe(0);
  expect(readdirSync(folder.path).filter((name) => name.includes('partial'))).toEqual([]);
}, 60_000);
