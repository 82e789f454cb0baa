import { describe, expect, it } from 'vitest';
import { call, message, Sent, tick } from '../../test/engine.js';
import { Replicas, works } from '../../test/replicas.js';
import { InvalidParamsError } from '../errors/standard-errors.js';
import { StorageError } from '../errors/storage-error.js';
import type { AgentExecutor } from './agent-executor.js';
import type { EventQueue } from './event-queue.js';

const ANN = call({ user: { id: 'ann' } });
const HEARTBEAT_MS = 5_000;

/** An agent that answers with its number of calls when the test releases it. */
function slowReplies() {
  let calls = 0;
  let goOn = () => {};
  const agent: AgentExecutor = {
    replies: 'either',
    async execute(_context, events) {
      calls += 1;
      const number = calls;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await events.message(`call ${number}`);
    },
  };
  return { agent, goOn: () => goOn(), calls: () => calls };
}

it('runs an agent that may answer directly once, if two processes get the same message', async () => {
  const replicas = new Replicas();
  const { agent, goOn, calls } = slowReplies();
  const [one, other] = await replicas.two(agent);
  const here = new Sent(one.handler.sendMessage({ message: message() }, ANN));
  const there = new Sent(other.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.advance(20_000);
  expect([calls(), here.settled, there.settled]).toEqual([1, false, false]);
  goOn();
  await replicas.clock.advance(1_000);
  expect(here.reply?.parts).toEqual([{ text: 'call 1' }]);
  expect(there.reply).toEqual(here.reply);
  expect(calls()).toBe(1);
});

it('refuses another message under the same id while the first one is being answered elsewhere', async () => {
  const replicas = new Replicas();
  const { agent, goOn } = slowReplies();
  const [one, other] = await replicas.two(agent);
  new Sent(one.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  const there = new Sent(other.handler.sendMessage({ message: message({ parts: [{ text: 'else' }] }) }, ANN));
  await replicas.clock.advance(1_000);
  expect(there.error).toMatchObject({ code: 'INVALID_PARAMS' });
  goOn();
});

it('runs the agent again elsewhere once the reservation of a dead process has ended', async () => {
  const replicas = new Replicas();
  const { agent, goOn, calls } = slowReplies();
  const [one, other] = await replicas.two(agent);
  new Sent(one.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  one.client.dead = true;
  const there = new Sent(other.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.advance(40_000);
  expect(calls()).toBe(2);
  goOn();
  await replicas.clock.advance(1_000);
  expect(there.reply?.parts).toEqual([{ text: 'call 2' }]);
});

it('gives the key back if the agent refuses the message', async () => {
  const replicas = new Replicas();
  let calls = 0;
  const [one, other] = await replicas.two({
    replies: 'either',
    async execute(_context, events) {
      calls += 1;
      if (calls === 1) throw new InvalidParamsError([{ field: 'message', description: 'is not for today' }]);
      await events.message('welcome');
    },
  });
  const refused = new Sent(one.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  expect(refused.error).toMatchObject({ code: 'INVALID_PARAMS' });
  const answered = new Sent(other.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  expect(answered.reply?.parts).toEqual([{ text: 'welcome' }]);
});

it('does not reserve the key anew while it gives it back', async () => {
  const replicas = new Replicas();
  const { clock, memory } = replicas;
  let calls = 0;
  const [one, other] = await replicas.two({
    replies: 'either',
    async execute(_context, events) {
      calls += 1;
      if (calls > 1) return events.message('welcome');
      await tick(clock, HEARTBEAT_MS - 100);
      throw new InvalidParamsError([{ field: 'message', description: 'is not for today' }]);
    },
  });
  const unreserve = memory.keys.unreserve.bind(memory.keys);
  memory.keys.unreserve = async (...key) => {
    await unreserve(...key);
    await tick(clock, 200);
  };
  const refused = new Sent(one.handler.sendMessage({ message: message() }, ANN));
  await clock.advance(HEARTBEAT_MS + 200);
  expect(refused.error).toMatchObject({ code: 'INVALID_PARAMS' });
  const answered = new Sent(other.handler.sendMessage({ message: message() }, ANN));
  await clock.advance(1_000);
  expect(answered.reply?.parts).toEqual([{ text: 'welcome' }]);
});

/** An agent that creates a task for each message when the test releases it. */
function slowTasks() {
  const runs: (() => void)[] = [];
  const agent: AgentExecutor = {
    replies: 'either',
    async execute(_context, events) {
      await new Promise<void>((resolve) => void runs.push(resolve));
      await events.complete(`run ${runs.length}`);
    },
  };
  return { agent, runs };
}

it('answers like another process that has stored a task for the message meanwhile', async () => {
  const replicas = new Replicas();
  const { agent, runs } = slowTasks();
  const [one, other] = await replicas.two(agent);
  const here = new Sent(one.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  one.client.isCutOff = true;
  await replicas.clock.advance(20_000);
  const there = new Sent(other.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  runs[1]?.();
  await replicas.clock.settle();
  one.client.isCutOff = false;
  runs[0]?.();
  await replicas.clock.advance(1_000);
  expect(there.task?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(here.task).toEqual(there.task);
  expect(runs).toHaveLength(2);
});

it('waits for another process that answers the message meanwhile', async () => {
  const replicas = new Replicas();
  const { agent, runs } = slowTasks();
  const [one, other] = await replicas.two(agent);
  const here = new Sent(one.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  one.client.isCutOff = true;
  await replicas.clock.advance(20_000);
  const there = new Sent(other.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  one.client.isCutOff = false;
  runs[0]?.();
  await replicas.clock.advance(1_000);
  expect([here.settled, there.settled]).toEqual([false, false]);
  runs[1]?.();
  await replicas.clock.advance(1_000);
  expect(there.task?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(here.task).toEqual(there.task);
});

describe('while the agent decides, and another turn of its process is stopped', () => {
  type End = (events: EventQueue) => Promise<void>;
  const STOPPED = 'leases could not be renewed in time, their turns are stopped';

  /**
   * Sends two messages to one process, and stops the turn of the first one. Sends the second one to the other process
   * too.
   */
  async function besideStoppedTurn() {
    const replicas = new Replicas();
    const runs: ((end: End) => void)[] = [];
    const agent: AgentExecutor = {
      replies: 'either',
      async execute(context, events) {
        if (context.text === 'work') return works(context, events);
        const end = await new Promise<End>((resolve) => void runs.push(resolve));
        await end(events);
      },
    };
    // Not a multiple of the heartbeat interval: the other process polls when the reservation has expired.
    const limits = { leaseMs: 14_000 };
    const [one, other] = [await replicas.boot(agent, { limits }), await replicas.boot(agent, { limits })];
    new Sent(one.handler.sendMessage({ message: message({ messageId: 'm0', parts: [{ text: 'work' }] }) }, ANN));
    await replicas.clock.settle();
    const here = new Sent(one.handler.sendMessage({ message: message() }, ANN));
    await replicas.clock.settle();
    const there = new Sent(other.handler.sendMessage({ message: message() }, ANN));
    const renew = replicas.memory.renew.bind(replicas.memory);
    replicas.memory.renew = () => Promise.reject(new StorageError('The connection is lost'));
    await replicas.clock.advance(13_500);
    replicas.memory.renew = renew;
    expect(one.logger.lines.map(({ message: text }) => text)).toContain(STOPPED);
    return { clock: replicas.clock, runs, here, there };
  }

  it.each([
    ['at once', 0],
    ['later than the lease', 30_000],
  ])('its task is stored, and it runs once: it ends %s', async (_when, ms) => {
    const { clock, runs, here, there } = await besideStoppedTurn();
    await clock.advance(ms);
    runs[0]?.((events) => events.complete('done'));
    await clock.advance(40_000);
    expect(here.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(there.task).toEqual(here.task);
    expect(runs).toHaveLength(1);
  });

  it('gives the key back at once if it refuses the message', async () => {
    const { clock, runs, here, there } = await besideStoppedTurn();
    runs[0]?.(() => Promise.reject(new InvalidParamsError([{ field: 'message', description: 'is not for today' }])));
    await clock.advance(1_000);
    expect(here.error).toMatchObject({ code: 'INVALID_PARAMS' });
    runs[1]?.(async (events) => void (await events.message('welcome')));
    await clock.advance(1_000);
    expect(there.reply?.parts).toEqual([{ text: 'welcome' }]);
  });
});

it('lets the caller try again at once if its task was not stored in time, and stores one task', async () => {
  const replicas = new Replicas();
  const { agent, runs } = slowTasks();
  const limits = { storagePatienceMs: 60_000 };
  const [one, other] = [await replicas.boot(agent, { limits }), await replicas.boot(agent, { limits })];
  const late = Promise.withResolvers<void>();
  const accept = replicas.memory.accept.bind(replicas.memory);
  replicas.memory.accept = (acceptance) => late.promise.then(() => accept(acceptance));
  const here = new Sent(one.handler.sendMessage({ message: message() }, ANN));
  await replicas.clock.settle();
  runs[0]?.();
  await replicas.clock.advance(14_500);
  replicas.memory.accept = accept;
  expect(here.error).toMatchObject({ code: 'UNAVAILABLE', message: 'The server cannot store anything at present' });
  const repeats = [one, other].map(({ handler }) => new Sent(handler.sendMessage({ message: message() }, ANN)));
  await replicas.clock.advance(1_000);
  expect(runs).toHaveLength(2);
  late.resolve();
  await replicas.clock.settle();
  runs[1]?.();
  await replicas.clock.advance(1_000);
  expect(repeats.map(({ task }) => task?.status.state)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
  expect((await other.handler.listTasks({}, ANN)).totalSize).toBe(1);
});

it.each([
  ['the same process', true],
  ['another process', false],
])('runs the agent once if the caller repeats the message at %s before its task is stored', async (_where, isSame) => {
  const replicas = new Replicas();
  const { agent, runs } = slowTasks();
  const [one, other] = await replicas.two(agent);
  const say = ({ handler }: typeof one) => new Sent(handler.sendMessage({ message: message() }, ANN));
  const there = isSame ? one : other;
  const late = Promise.withResolvers<void>();
  const accept = replicas.memory.accept.bind(replicas.memory);
  replicas.memory.accept = (acceptance) => late.promise.then(() => accept(acceptance));
  const first = say(one);
  await replicas.clock.settle();
  runs[0]?.();
  await replicas.clock.advance(10_000);
  expect(first.error).toMatchObject({ code: 'UNAVAILABLE', details: { retryAfterMs: 2_000 } });
  const early = say(there);
  await replicas.clock.advance(1_000);
  late.resolve();
  await replicas.clock.advance(1_000);
  const repeated = say(there);
  await replicas.clock.advance(1_000);
  expect(early.settled).toBe(true);
  expect(repeated.task?.status.message?.parts).toEqual([{ text: 'run 1' }]);
  expect(runs).toHaveLength(1);
});
