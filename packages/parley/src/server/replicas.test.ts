import { describe, expect, it } from 'vitest';
import { call, completes, ids, message, Seen, Sent, send, waitForAbort } from '../../test/engine.js';
import { offBy, Replicas, stepwise, works } from '../../test/replicas.js';
import { RetentionSweeper } from './retention-sweeper.js';

const SCOPE = { agent: 'test', tenant: '', owner: null };

describe('two processes on one storage', () => {
  it.each([
    ['arrive', 'deliver', 0],
    ['come twice', 'repeat', 0],
    ['are lost', 'lose', 5_000],
  ] as const)('show the same stream, without a gap and to its end: wake-ups %s', async (_, fate, wait) => {
    const replicas = new Replicas();
    const agent = stepwise();
    const [one, other] = await replicas.two(agent.execute, fate);
    const here = new Seen(one.handler.sendStreamingMessage({ message: message() }, call()));
    await replicas.clock.settle();
    const [id = ''] = await ids(one.handler);
    const there = new Seen(other.handler.subscribeToTask({ id }, call()));
    await replicas.clock.settle();
    for (let step = 0; step < 4; step += 1) {
      agent.step();
      await replicas.clock.advance(110);
    }
    await replicas.clock.advance(wait);
    expect(there.items.length).toBeGreaterThan(4);
    agent.step(true);
    await replicas.clock.advance(wait);
    expect(there.ended).toBe(true);
    expect(there.error).toBeUndefined();
    expect(there.seqs).toEqual(here.seqs.slice(1));
    expect(there.shown.at(-1)).toBe('COMPLETED');
    expect(other.handler.load.watchedTasks).toBe(0);
  });

  it.each(['deliver', 'lose'] as const)(
    'answer a blocking repeat of a message on both (wake-ups: %s)',
    async (fate) => {
      const replicas = new Replicas();
      const agent = stepwise();
      const [one, other] = await replicas.two(agent.execute, fate);
      const ann = call({ user: { id: 'ann' } });
      const first = new Sent(one.handler.sendMessage({ message: message() }, ann));
      await replicas.clock.settle();
      const repeat = new Sent(other.handler.sendMessage({ message: message() }, ann));
      await replicas.clock.settle();
      expect([first.settled, repeat.settled]).toEqual([false, false]);
      agent.step(true);
      await replicas.clock.advance(5_000);
      expect(first.task?.status.state).toBe('TASK_STATE_COMPLETED');
      expect(repeat.task).toEqual(first.task);
    },
  );

  it.each(['deliver', 'lose'] as const)(
    'answer a sender whose message waits for a turn elsewhere (wake-ups: %s)',
    async (fate) => {
      const replicas = new Replicas();
      const agent = stepwise();
      const [one, other] = await replicas.two(async (context, events) => {
        if (context.text === 'second') return events.complete('second');
        await agent.execute(context, events);
      }, fate);
      send(one.handler, {}, { returnImmediately: true });
      await replicas.clock.settle();
      const [taskId = ''] = await ids(one.handler);
      const sent = send(other.handler, { messageId: 'm2', taskId, parts: [{ text: 'second' }] });
      await replicas.clock.settle();
      expect(sent.settled).toBe(false);
      agent.step(true);
      await replicas.clock.advance(5_000);
      // The first turn has ended the task before the second began.
      expect(sent.error).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
      expect([one, other].map(({ handler }) => handler.load.watchedTasks)).toEqual([0, 0]);
    },
  );

  it('carry on a conversation: the answer to a question may come to the other one', async () => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(async (context, events) => {
      if (context.text === 'ask') return events.inputRequired('and?');
      await events.artifact(`answer: ${context.text}`, { artifactId: 'a' });
      await events.complete();
    });
    const asked = send(one.handler, { parts: [{ text: 'ask' }] });
    await replicas.clock.settle();
    const taskId = asked.task?.id ?? '';
    const seen = new Seen(one.handler.subscribeToTask({ id: taskId }, call()));
    await replicas.clock.settle();
    const answered = send(other.handler, { messageId: 'm2', taskId, parts: [{ text: 'yes' }] });
    await replicas.clock.advance(10);
    expect(answered.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(seen.shown).toEqual(['task INPUT_REQUIRED', 'WORKING', 'artifact a', 'COMPLETED']);
    expect(seen.ended).toBe(true);
  });

  it('cancel an idle agent of the other one at once', async () => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(works);
    const sent = send(one.handler);
    await replicas.clock.settle();
    const [id = ''] = await ids(one.handler);
    const canceled = new Sent(other.handler.cancelTask({ id }, call()));
    await replicas.clock.advance(10);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(sent.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(one.handler.load.runningTurns).toBe(0);
  });

  it('answer two cancels of one waiting task, the later one with the end that the other wrote', async () => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two((_context, events) => void events.inputRequired('and?'));
    const asked = send(one.handler);
    await replicas.clock.settle();
    const id = asked.task?.id ?? '';
    const canceled = [one, other].map(({ handler }) => new Sent(handler.cancelTask({ id }, call())));
    await replicas.clock.advance(10);
    expect(canceled.map(({ task, error }) => error ?? task?.status.state)).toEqual([
      'TASK_STATE_CANCELED',
      'TASK_STATE_CANCELED',
    ]);
  });

  it('cancel the agent of the other one by its heartbeat, where wake-ups are lost', async () => {
    const replicas = new Replicas();
    let stoppedAt = 0;
    const [one, other] = await replicas.two(async (context, events) => {
      await events.working();
      await waitForAbort(context);
      stoppedAt = replicas.clock.now();
    }, 'lose');
    const sent = send(one.handler);
    await replicas.clock.advance(1_000);
    const [id = ''] = await ids(one.handler);
    const asked = replicas.clock.now();
    const canceled = new Sent(other.handler.cancelTask({ id }, call()));
    await replicas.clock.advance(10_000);
    expect(stoppedAt - asked).toBeLessThanOrEqual(5_000);
    expect(canceled.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(sent.task?.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('end a task by force in the name of its turn, so that its sender gets the task', async () => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(async (_context, events) => {
      await events.working();
      await new Promise(() => {});
    });
    const sent = send(one.handler);
    const stream = new Seen(one.handler.sendStreamingMessage({ message: message({ messageId: 'm2' }) }, call()));
    await replicas.clock.settle();
    one.client.isCutOff = true;
    const tasks = await ids(other.handler);
    const canceled = tasks.map((id) => new Sent(other.handler.cancelTask({ id }, call())));
    await replicas.clock.advance(5_000);
    expect(canceled.map(({ task }) => task?.status.state)).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
    one.client.isCutOff = false;
    await replicas.clock.advance(10_000);
    expect(sent.error).toBeUndefined();
    expect(sent.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(stream.shown).toEqual(['task SUBMITTED', 'WORKING', 'CANCELED']);
    expect(stream.error).toBeUndefined();
  });

  it.each(['deliver', 'lose'] as const)(
    'end streams and waiting senders of a task that is deleted elsewhere (wake-ups: %s)',
    async (fate) => {
      const replicas = new Replicas();
      const [one, other] = await replicas.two((_context, events) => events.inputRequired('what?'), fate);
      const asked = send(one.handler);
      await replicas.clock.settle();
      const id = asked.task?.id ?? '';
      const seen = [one, other].map(({ handler }) => new Seen(handler.subscribeToTask({ id }, call())));
      await replicas.clock.settle();
      expect(await other.storage.delete(SCOPE, id)).toBe('deleted');
      await replicas.clock.advance(5_000);
      expect(seen.map(({ error }) => error)).toEqual([
        expect.objectContaining({ code: 'TASK_NOT_FOUND' }),
        expect.objectContaining({ code: 'TASK_NOT_FOUND' }),
      ]);
    },
  );

  it('run a turn that one of them gave up', async () => {
    const replicas = new Replicas();
    const begun: number[] = [];
    const [one, other] = await replicas.two({
      resumable: true,
      async execute(context, events) {
        begun.push(context.attempt);
        if (context.attempt > 1) return events.complete();
        await works(context, events);
      },
    });
    send(one.handler);
    await replicas.clock.settle();
    const seen = new Seen(other.handler.subscribeToTask({ id: (await ids(one.handler))[0] ?? '' }, call()));
    await replicas.clock.settle();
    const closed = one.handler.close();
    await replicas.clock.settle();
    await closed;
    await replicas.clock.advance(3);
    expect(begun).toEqual([1, 2]);
    expect(seen.shown.at(-1)).toBe('COMPLETED');
  });

  it('see each other in the list of nodes', async () => {
    const replicas = new Replicas();
    const [one] = await replicas.two(works);
    send(one.handler);
    await replicas.clock.advance(5_000);
    const nodes = await replicas.memory.nodes();
    expect(nodes.map(({ agents, runningTurns, seenAt }) => ({ agents, runningTurns, seenAt }))).toEqual([
      { agents: ['test'], runningTurns: 1, seenAt: replicas.clock.now() },
      { agents: ['test'], runningTurns: 0, seenAt: replicas.clock.now() },
    ]);
  });
});

describe('processes whose clocks differ by minutes', () => {
  it.each([300_000, -300_000])('write the times of the storage (%i ms)', async (clockOff) => {
    const replicas = new Replicas();
    const { clock } = replicas;
    const one = await replicas.boot(completes, { clockOff });
    await clock.advance(1_234);
    const sent = send(one.handler);
    await clock.settle();
    expect(sent.task?.status.timestamp).toBe(new Date(clock.now()).toISOString());
  });

  it('expire and forget by the time of the storage', async () => {
    const replicas = new Replicas();
    const { clock, memory } = replicas;
    const limits = { waitingExpiryMs: 60_000, expiryCheckMs: 1_000 };
    const one = await replicas.boot((_context, events) => events.inputRequired('what?'), { clockOff: 300_000, limits });
    const sent = send(one.handler);
    await clock.advance(50_000);
    const id = sent.task?.id ?? '';
    expect((await memory.task(SCOPE, id))?.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await clock.advance(20_000);
    expect((await memory.task(SCOPE, id))?.task.status.state).toBe('TASK_STATE_FAILED');
    const policy = { taskRetentionMs: 60_000, everyMs: 1_000 };
    const sweeper = new RetentionSweeper({ storage: memory, clock: offBy(clock, 300_000), logger: one.logger, policy });
    sweeper.start();
    await clock.advance(40_000);
    expect(await memory.task(SCOPE, id)).toBeDefined();
    await clock.advance(30_000);
    expect(await memory.task(SCOPE, id)).toBeUndefined();
    await sweeper.stop();
  });
});

describe('a message behind a turn that waits for a login', () => {
  it.each(['before', 'after'] as const)('is answered with that state, where its sender came %s it', async (when) => {
    const replicas = new Replicas();
    const [one, other] = await replicas.two(async (context, events) => {
      await events.working();
      if (when === 'before') await new Promise<void>((resolve) => void replicas.clock.after(100, resolve));
      await events.authRequired('where?');
      await waitForAbort(context);
    });
    send(one.handler, {}, { returnImmediately: true });
    await replicas.clock.settle();
    const [taskId = ''] = await ids(one.handler);
    const sent = [one, other].map(({ handler }, at) => send(handler, { messageId: `n${at}`, taskId }));
    await replicas.clock.advance(200);
    expect(sent.map(({ task }) => task?.status.state)).toEqual([
      'TASK_STATE_AUTH_REQUIRED',
      'TASK_STATE_AUTH_REQUIRED',
    ]);
  });
});
