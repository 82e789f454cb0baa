import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { inProject, suite, tarballOf } from './packed.js';

const JEST = 'jest@30';
const TESTS = `
import { expect, test } from '@jest/globals';
import { assertAllProtocolInvariants, assertTaskFinalState, crashAndResume, runAgent, TestClock, testAgent } from 'parley-a2a-testing';

test('runs an agent', async () => {
  const run = await runAgent((prompt) => prompt.toUpperCase(), 'hello');
  expect(run.text).toBe('HELLO');
  assertAllProtocolInvariants(run.events);
});

test('moves the clock', async () => {
  const clock = new TestClock();
  const tested = await testAgent(() => clock.sleep(1_000).then(() => 'late'), { clock });
  const events = tested.collect('go');
  await events.waitForState('TASK_STATE_WORKING');
  await tested.advance(1_000);
  await events.waitForFinal();
  await tested.close();
  expect(events.text).toBe('late');
});

test('lets a process die', async () => {
  const agent = { execute: (_, events) => events.complete() };
  await expect(crashAndResume(agent, 'go')).rejects.toThrow('checkpoint');
});

test('fails', async () => {
  const run = await runAgent(() => 'hello', 'hello');
  assertTaskFinalState(run.events, 'TASK_STATE_FAILED');
});
`;

it('the testing kit works under Jest', { timeout: 400_000 }, async ({ skip }) => {
  const project = join(suite.project, '..', 'jest');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(project, 'agent.test.mjs'), TESTS);
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', '--fetch-retries=1'];
  const args = [
    'install',
    tarballOf('parley-a2a'),
    tarballOf('parley-a2a-testing'),
    JEST,
    ...flags,
    '--fetch-timeout=20000',
  ];
  const problem = await promisify(execFile)('npm', args, { cwd: project, timeout: 180_000 }).then(
    () => undefined,
    () => `npm could not install ${JEST}`,
  );
  if (problem !== undefined) return skip(problem);
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--testMatch', '**/*.test.mjs'];
  const { output } = await inProject(process.execPath, [...jest, '--watchman=false'], project, 120_000);
  expect(output).toMatch(/^Tests: +1 failed, 3 passed, 4 total$/m);
  expect(output).toContain('expected TASK_STATE_FAILED, but got TASK_STATE_COMPLETED');
});
