import { describe, expect, it } from 'vitest';
import { call, engine, message, Seen, Sent, waitForAbort } from '../../test/engine.js';

const USERS = ['alice', 'bob'] as const;
const AS = { alice: call({ user: { id: 'alice' } }), bob: call({ user: { id: 'bob' } }) };

/** A task of the id `t` for each user, with a turn that runs, a stream and a caller that waits for its end. */
async function twoTasks() {
  const made = engine(async (context, events) => {
    await events.artifact(`for ${context.user?.id}`, { artifactId: 'a' });
    await waitForAbort(context);
  });
  const { handler, storage } = made;
  const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: '2026-01-01T00:00:00.000Z' };
  for (const owner of USERS) {
    expect(await storage.create({ agent: 'test', tenant: '', owner }, { id: 't', contextId: 'c', status })).toBe(true);
  }
  const seen = {
    alice: new Seen(handler.subscribeToTask({ id: 't' }, AS.alice)),
    bob: new Seen(handler.subscribeToTask({ id: 't' }, AS.bob)),
  };
  await made.clock.settle();
  const sent = USERS.map((user) => new Sent(handler.sendMessage({ message: message({ taskId: 't' }) }, AS[user])));
  await made.clock.advance(5);
  return { ...made, seen, sent };
}

describe('tasks of the same id in two scopes', () => {
  it('run at the same time, and each stream shows its own', async () => {
    const { handler, clock, seen } = await twoTasks();
    expect(handler.load.runningTurns).toBe(2);
    await clock.advance(100);
    for (const user of USERS) {
      expect(seen[user].shown).toEqual(['task SUBMITTED', 'WORKING', 'artifact a']);
      expect(JSON.stringify(seen[user].items.at(-1)?.event)).toContain(`for ${user}`);
    }
  });

  it('are canceled and deleted one by one', async () => {
    const { handler, clock, storage, seen, sent } = await twoTasks();
    const canceled = new Sent(handler.cancelTask({ id: 't' }, AS.alice));
    await clock.advance(10);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(sent.map(({ settled: isSettled }) => isSettled)).toEqual([true, false]);
    expect([seen.alice.ended, seen.bob.ended]).toEqual([true, false]);
    expect(handler.load.runningTurns).toBe(1);
    expect(await storage.delete({ agent: 'test', tenant: '', owner: 'alice' }, 't')).toBe('deleted');
    expect((await handler.getTask({ id: 't' }, AS.bob)).status.state).toBe('TASK_STATE_WORKING');
  });
});
