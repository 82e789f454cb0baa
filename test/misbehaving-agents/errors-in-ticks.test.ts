import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';

// A process that starts and ends, on machines that have other things to do.
vi.setConfig({ testTimeout: 60_000 });

const SERVER = fileURLToPath(new URL('ticks-server.mjs', import.meta.url));

it('errors of an agent in many ticks leave every request to another agent its answer', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SERVER], { timeout: 30_000 });
  expect(JSON.parse(stdout)).toEqual(Array(10).fill(200));
});
