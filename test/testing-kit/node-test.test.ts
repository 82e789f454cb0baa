import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('.', import.meta.url));

/** Runs a file with the test runner of Node.js. Its report shows the failures. */
async function report(file: string): Promise<string> {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const args = ['--test', '--test-reporter=tap', `${folder}${file}`];
  const { stdout } = await run(process.execPath, args, { env, timeout: 60_000 }).catch((error) => error as never);
  return stdout;
}

it('works with the test runner of Node.js, which ends by itself after the tests', { timeout: 70_000 }, async () => {
  const text = await report('an-agent.mjs');
  expect(text).toMatch(/^# pass 3$/m);
  expect(text).toMatch(/^# fail 1$/m);
});

it('shows what an assertion expected in the report of Node.js', { timeout: 70_000 }, async () => {
  const text = await report('an-agent.mjs');
  expect(text).toMatch(
    /error: .*assertTaskFinalState: event 3: expected TASK_STATE_FAILED, but got TASK_STATE_COMPLETED/,
  );
  expect(text).toMatch(/code: 'ERR_ASSERTION'/);
  expect(text).toMatch(/expected: 'TASK_STATE_FAILED'/);
});
