// Tests of an agent for the test runner of Node.js. The last one fails on purpose.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  assertAllProtocolInvariants,
  assertTaskFinalState,
  crashAndResume,
  runAgent,
  TestClock,
  testAgent,
} from 'parley-a2a-testing';

const shouts = (prompt) => prompt.toUpperCase();

test('runs an agent', async () => {
  const run = await runAgent(shouts, 'hello');
  assert.equal(run.text, 'HELLO');
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
  assert.equal(events.text, 'late');
});

test('lets the process of an agent die', async () => {
  const saves = {
    resumable: true,
    async execute({ checkpoint, saveCheckpoint: _, ...others }, events) {
      await events.complete(String(checkpoint ?? others.attempt));
    },
  };
  await assert.rejects(crashAndResume(saves, 'go'), { name: 'AssertionError' });
});

test('fails', async () => {
  const run = await runAgent(shouts, 'hello');
  assertTaskFinalState(run.events, 'TASK_STATE_FAILED');
});
