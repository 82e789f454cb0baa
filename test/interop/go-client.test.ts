import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { hasGo } from './go-tools.js';

const BUILD_MS = 300_000;
const run = promisify(execFile);

// Without Go these tests are skipped.
describe.skipIf(!hasGo())('official Go client of 0.3', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-go-'));
  const program = join(folder, 'calls');
  let server: ExampleServer | undefined;

  beforeAll(async () => {
    cpSync(fileURLToPath(new URL('go', import.meta.url)), folder, { recursive: true });
    await run('go', ['build', '-o', program, '.'], { cwd: folder, timeout: BUILD_MS });
    server = await ExampleServer.start();
  }, BUILD_MS);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['/spec03', 1],
    ['/', 3],
  ])('shows the events of a stream at %s, and why one is refused', async (path, events) => {
    const { stdout } = await run(program, [`${server?.url}${path}`], { timeout: 30_000 });
    expect(stdout.trim().split('\n')).toEqual([
      `stream: ${events} events`,
      'stream to an unknown task: task not found',
      'subscribe to an unknown task: task not found',
    ]);
  });
});
