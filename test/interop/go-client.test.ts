import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.js';
import { BUILD_MS, goProgram, hasGo } from './go-tools.js';

const run = promisify(execFile);

// Without Go these tests are skipped.
describe.skipIf(!hasGo())('official Go client of 0.3', () => {
  let program: string;
  let server: ExampleServer | undefined;

  beforeAll(async () => {
    program = await goProgram('go');
    server = await ExampleServer.start();
  }, BUILD_MS);
  afterAll(() => server?.[Symbol.asyncDispose]());

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
