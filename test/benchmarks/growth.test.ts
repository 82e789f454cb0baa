import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const pathOf = (suite: string) => fileURLToPath(new URL(`../../benchmarks/dist/${suite}/main.js`, import.meta.url));
const run = promisify(execFile);

const isLong = process.env.TEST_LONG !== undefined;
const SIZES = isLong
  ? ['--tasks', '100000', '--events', '100000', '--idle', '10000', '--mixed', '1000000']
  : ['--only', 'events,idle,mixed,memory', '--events', '1000', '--idle', '100', '--mixed', '10000'];

describe('npm run bench:growth', () => {
  it('measures every row', { timeout: 1_200_000 }, async () => {
    const { stdout } = await run(process.execPath, [pathOf('growth'), ...SIZES]).catch(
      // A missed target is a figure of the machine, and no fault of the command.
      (failed: { stdout: string; stderr: string }) => {
        expect(failed.stderr).toBe('');
        return failed;
      },
    );
    expect(stdout).toMatch(/\| memory +\| 1000 +\| [\d.]+ → [\d.]+ µs per chunk \| [\d.]+ +\|/);
    expect(stdout).toMatch(/\| memory +\| stream +\| \d+ +\| -?[\d.]+ kB +\| [\d.]+ kB +\| \d+ MB +\|/);
    expect(stdout).toMatch(/\| memory +\| \d+ +\| (?:[\d.]+, ){9}[\d.]+ MB +\| [\d.]+ +\| [\d.]+ +\|/);
  });

  it('says what is wrong with its arguments', async () => {
    await expect(run(process.execPath, [pathOf('growth'), '--only', 'everything'])).rejects.toMatchObject({
      code: 1,
      stderr: '--only: everything is none of tasks, events, idle, mixed, memory, sqlite\n',
    });
  });
});

describe('npm run bench:workers', () => {
  it.runIf(process.platform === 'linux')('refuses --machine on too few cores', async () => {
    const command = ['-c', '0', process.execPath, pathOf('workers'), '--machine'];
    await expect(run('taskset', command)).rejects.toMatchObject({
      code: 1,
      stderr:
        '--machine needs 4 cores at least, half of them for the load. This machine has 1. Run npm run bench:workers without it\n',
    });
  });
});
