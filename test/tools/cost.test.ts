import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

/** The target. Commits of a busy machine scatter, so the short form only finds a regression. */
const MOST = process.env.TEST_LONG === undefined ? 2 : 1.3;

/** Bounds against regressions: without a disk, and without commits in between. */
const MOST_IN_MEMORY = 2.5;
const MOST_BUFFERED = 4;
const MOST_GROWTH = 3;

/** In status events: the time, that of the processor, and the last rounds over the first ones. */
type Cost = Readonly<Record<'time' | 'cpu' | 'growth', number>>;

it(`a call of a tool costs at most ${MOST} times a committed status event`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-tool-cost-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const script = fileURLToPath(new URL('measure-cost.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, `sqlite:${join(folder, 'tasks.db')}`]);
  process.stdout.write(`${stdout}\n`);
  const figures = JSON.parse(stdout) as Readonly<Record<'memory' | 'memoryBuffered' | 'sqlite' | 'sqliteOnce', Cost>>;
  expect(figures.sqlite.cpu).toBeLessThanOrEqual(MOST);
  expect(figures.sqliteOnce.cpu).toBeLessThanOrEqual(MOST);
  expect(figures.memory.cpu).toBeLessThanOrEqual(MOST_IN_MEMORY);
  expect(figures.memoryBuffered.cpu).toBeLessThanOrEqual(MOST_BUFFERED);
  // Thousands of calls before cost no more than the first ones.
  expect(figures.sqlite.growth).toBeLessThanOrEqual(MOST_GROWTH);
  expect(figures.sqliteOnce.growth).toBeLessThanOrEqual(MOST_GROWTH);
}, 180_000);
