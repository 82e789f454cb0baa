import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Caller, taskOf, until } from './calls.js';
import { ServerProcess } from './server-process.js';
import { SmallDisk } from './small-disk.js';
import { checkWhole } from './whole-file.js';

vi.setConfig({ testTimeout: 120_000 });

const MAIN = fileURLToPath(new URL('../../examples/agents/dist/main.js', import.meta.url));
const NOBODY = 65_534;
/** A user to whom file permissions apply, which is not root. */
const plainUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

let folder: string;
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function freshFolder(): string {
  count += 1;
  const path = join(folder, String(count));
  mkdirSync(path);
  return path;
}

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

/** Starts the example server, which must fail. Returns its output. */
async function startRefused(path: string, user: { uid?: number; gid?: number } = {}, env = {}): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN], {
    ...user,
    cwd: '/',
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${path}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    if (stdout.includes('listening on')) child.kill('SIGKILL');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

/** One line that names the file and says what to do; the exit code says that it did not work. */
function oneLine(path: string, says: string): Ended {
  return { code: 1, stderr: expect.stringMatching(pattern(`Cannot start: Cannot use ${path} as storage: `, says)) };
}

function pattern(begins: string, says: string): RegExp {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal(begins)}[^\n]*${literal(says)}[^\n]*\n$`);
}

/** A file with some finished tasks in it. */
async function usedFile(path = join(freshFolder(), 'tasks.db')): Promise<string> {
  await using server = await ServerProcess.start(path);
  const caller = new Caller(server.addresses);
  for (const _ of [1, 2, 3]) await caller.send('quick');
  expect(await server.stop()).toBe(0);
  return path;
}

describe('a server does not start, and says why in one line, when its file', () => {
  it('is a folder, or below a file', async () => {
    const path = freshFolder();
    expect(await startRefused(path)).toEqual(oneLine(path, 'it is a folder: name a file'));
    writeFileSync(join(path, 'plain'), '');
    const below = join(path, 'plain', 'tasks.db');
    expect(await startRefused(below)).toEqual(oneLine(below, 'a part of its path is a file'));
    expect(readFileSync(join(path, 'plain'), 'utf8')).toBe('');
  });

  it('is a link that leads nowhere but to itself', async () => {
    const path = join(freshFolder(), 'tasks.db');
    symlinkSync(path, path);
    expect(await startRefused(path)).toEqual(oneLine(path, 'a symbolic link that leads to itself'));
  });

  it.skipIf(plainUser.uid === undefined)('belongs to somebody else, or its folder does', async () => {
    const path = await usedFile();
    const before = readFileSync(path);
    expect(await startRefused(path, plainUser)).toEqual(oneLine(path, 'this user may not write it'));
    chownSync(path, NOBODY, NOBODY);
    expect(await startRefused(path, plainUser)).toEqual(oneLine(path, 'this user may not make files in its folder'));
    const deep = join(folder, 'somewhere', 'deep', 'tasks.db');
    expect(await startRefused(deep, plainUser)).toEqual(
      oneLine(deep, 'its folder is missing, and this user may not make'),
    );
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder)).not.toContain('somewhere');
  });

  it('is no database, or one of something else; and it is left alone', async () => {
    const path = join(freshFolder(), 'tasks.db');
    writeFileSync(path, 'a shopping list, much longer than the header of a database is: '.repeat(100));
    const before = readFileSync(path);
    expect(await startRefused(path)).toEqual(oneLine(path, 'it is no SQLite database'));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('shows more than one line to those who debug', async () => {
    const path = freshFolder();
    const { code, stderr } = await startRefused(path, {}, { LOG_LEVEL: 'debug' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Cannot start: StorageError: Cannot use .*\n {4}at /);
  });
});

describe.skipIf(SmallDisk.missing)('a server does not start when its disk', () => {
  it('is mounted read-only, and starts when it is no more', async () => {
    using disk = SmallDisk.of(8);
    const path = await usedFile(join(disk.path, 'tasks.db'));
    disk.remount('ro');
    expect(await startRefused(path)).toEqual(oneLine(path, 'read-only: mount that for writing'));
    const fresh = join(disk.path, 'new', 'tasks.db');
    expect(await startRefused(fresh)).toEqual(oneLine(fresh, 'read-only: mount that for writing'));
    disk.remount('rw');
    expect((await checkWhole(path)).size).toBe(3);
  });

  it('is full, and starts when it is no more, with what was running', async () => {
    using disk = SmallDisk.of(8);
    const path = join(disk.path, 'tasks.db');
    await using server = await ServerProcess.start(path);
    const caller = new Caller(server.addresses);
    const stream = caller.stream('steady 1000');
    await until('a turn is under way', () => stream.ids.length > 3);
    await server.kill();
    disk.fill();
    expect(await startRefused(path)).toEqual(oneLine(path, 'there is no space left on its disk: make room'));
    // The log of the database may have been copied into the file meanwhile.
    disk.fill();
    const fresh = join(disk.path, 'new', 'tasks.db');
    expect(await startRefused(fresh)).toEqual(oneLine(fresh, 'there is no space left on its disk: make room'));
    disk.free();
    await using second = await ServerProcess.start(path);
    const task = taskOf(await new Caller(second.addresses).task(stream.taskId));
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    await second.stop();
    expect((await checkWhole(path)).get(stream.taskId)).toBe('TASK_STATE_FAILED');
  });
});

describe('a second server on the same file', () => {
  it('ends at once, whatever path leads there, and the first goes on', async () => {
    const path = join(freshFolder(), 'tasks.db');
    await using server = await ServerProcess.start(path);
    const link = join(freshFolder(), 'link.db');
    symlinkSync(path, link);
    const folderLink = join(folder, `link-${count}`);
    symlinkSync(join(path, '..'), folderLink);
    const paths = [path, path.replace('/tasks.db', '/./tasks.db'), link, join(folderLink, 'tasks.db')];
    for (const other of paths) {
      const { code, stderr } = await startRefused(other);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^Cannot start: Cannot use [^\n]* another server uses it \(process \d+\)[^\n]*\n$/);
    }
    const caller = new Caller(server.addresses);
    expect(taskOf(await caller.send('quick')).status.state).toBe('TASK_STATE_COMPLETED');
    expect(await server.stop()).toBe(0);
  });

  it('names the process that has it', async () => {
    const path = join(freshFolder(), 'tasks.db');
    await using server = await ServerProcess.start(path);
    const { stderr } = await startRefused(path);
    expect(stderr).toContain(`another server uses it (process ${server.pid})`);
  });

  it('is refused under a second name, through which it would not see the log', async () => {
    const path = await usedFile();
    const other = join(freshFolder(), 'tasks.db');
    linkSync(path, other);
    for (const name of [path, other]) expect(await startRefused(name)).toEqual(oneLine(name, 'hard links'));
    rmSync(other);
    expect((await checkWhole(path)).size).toBe(3);
  });

  it('has the file at once when the first was killed, whoever has its number now', async () => {
    const path = join(freshFolder(), 'tasks.db');
    const first = await ServerProcess.start(path);
    await first.kill();
    // The number in the lock is that of a process that lives: only the lock of the system counts.
    execFileSync(process.execPath, [
      '-e',
      `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('PRAGMA user_version = ${process.pid}')`,
      `${path}-lock`,
    ]);
    await using second = await ServerProcess.start(path);
    expect(await second.stop()).toBe(0);
  });

  it('gets it or not, but exactly one does, when they start at the same moment', async () => {
    for (let round = 0; round < (process.env.TEST_LONG ? 20 : 3); round += 1) {
      const path = join(freshFolder(), 'tasks.db');
      const starts = await Promise.allSettled([1, 2, 3].map(() => ServerProcess.start(path)));
      const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
      try {
        expect(servers).toHaveLength(1);
        for (const start of starts) {
          if (start.status === 'rejected') expect(String(start.reason)).toContain('another server uses it');
        }
      } finally {
        for (const server of servers) await server.stop();
      }
    }
  });
});

if (SmallDisk.missing)
  process.stdout.write(`left out: a full disk, a read-only one (root can mount one): ${SmallDisk.missing}\n`);
