import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

/** The target. Commits of a busy machine scatter, so the short form only finds a regression. */
const MOST = process.env.TEST_LONG === undefined ? 2 : 1.3;

/** Bounds against regressions: without commits in between, and with a commit before each run. */
const MOST_IN_MEMORY = 5;
const MOST_ONCE = 6;
const MOST_GROWTH = 3;

it(`a call of a tool costs at most ${MOST} times a committed status event`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-tool-cost-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const script = fileURLToPath(new URL('measure-cost.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, `sqlite:${join(folder, 'tasks.db')}`]);
  process.stdout.write(`${stdout}\n`);
  const figures = JSON.parse(stdout) as Record<string, number>;
  expect(figures.memory).toBeLessThanOrEqual(MOST_IN_MEMORY);
  expect(figures.sqlite).toBeLessThanOrEqual(MOST);
  expect(figures.sqliteOnce).toBeLessThanOrEqual(MOST_ONCE);
  // 2,000 to 4,000 calls before cost no more than the first ones.
  expect(figures.memoryGrowth).toBeLessThanOrEqual(MOST_GROWTH);
  expect(figures.sqliteGrowth).toBeLessThanOrEqual(MOST_GROWTH);
}, 180_000);
