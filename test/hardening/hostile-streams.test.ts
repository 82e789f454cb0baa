import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connect, type Task } from 'parley-a2a';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agents, executor, taskOf } from '../agent-calls/world.js';
import { median } from '../support/median.js';

const BYTES = 1_000_000;
/** Pairs of a hostile and a usual stream. */
const PAIRS = 5;
/** A byte of a hostile stream may cost so many times as much CPU time as a byte of usual events. */
const MOST_RATIO = 5;
/** A value with many members: its JSON is parsed, which costs 4.5 to 5.3 times as much. */
const MOST_WIDE_RATIO = 7;
/** The same for chunks of one byte: the HTTP parser of the platform takes a microsecond for each. */
const MOST_CHUNK_RATIO = 25;
/** The most CPU time in ms between two turns of a timer. */
const MOST_HELD_MS = 250;

let callee: ChildProcess;
let calleeUrl = '';

beforeAll(async () => {
  callee = fork(fileURLToPath(new URL('hostile-callee.mjs', import.meta.url)));
  const [{ port }] = (await once(callee, 'message')) as [{ readonly port: number }];
  calleeUrl = `http://127.0.0.1:${port}/`;
});
afterAll(() => callee.disconnect());

/** An agent that calls the hostile one: as agents call others, or by a client of its own. */
const WAYS = {
  callAgent: executor(async (context, events) => {
    if (context.text !== 'hi') await context.callAgent(calleeUrl, context.text);
    await events.complete('done');
  }),
  connect: executor(async (context, events) => {
    const client = await connect(calleeUrl);
    for await (const _ of client.sendStreamingMessage(context.text));
    await events.complete('done');
  }),
};

const stateOf = ({ status }: Task) => status.state;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The CPU time of some work, and the most of it between two turns of a timer. */
async function costOf(work: () => Promise<string>) {
  const began = cpuMs();
  let seen = began;
  let heldMs = 0;
  const look = () => {
    heldMs = Math.max(heldMs, cpuMs() - seen);
    seen = cpuMs();
  };
  const timer = setInterval(look, 1);
  try {
    const state = await work();
    look();
    return { state, heldMs, usedMs: cpuMs() - began };
  } finally {
    clearInterval(timer);
  }
}

describe.each(Object.entries(WAYS))('a callee with a hostile stream, called by %s', (_, agent) => {
  it.each([
    ['unknown lines', MOST_RATIO],
    ['blank lines', MOST_RATIO],
    ['comment lines', MOST_RATIO],
    ['retry lines', MOST_RATIO],
    ['lines that end with CR', MOST_RATIO],
    ['one CR behind many lines', MOST_RATIO],
    ['lines of ids', MOST_RATIO],
    ['frames without data', MOST_RATIO],
    ['an event of tiny lines', MOST_RATIO],
    ['unknown lines within an event', MOST_RATIO],
    ['lines in chunks of one byte', MOST_CHUNK_RATIO],
    ['comments in chunks of one byte', MOST_CHUNK_RATIO],
    ['events of no known kind', MOST_RATIO],
    ['a wide value', MOST_WIDE_RATIO],
  ])('holds up no timer of the calling server: %s', async (shape, mostRatio) => {
    await using agents = new Agents();
    const { client } = await agents.listen(agent);
    const call = (text: string) => costOf(async () => stateOf(taskOf(await client.sendMessage(`${text} ${BYTES}`))));
    await call('usual events');
    const hostileMs: number[] = [];
    const usualMs: number[] = [];
    const held: number[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const hostile = await call(shape);
      const usual = await call('usual events');
      expect([hostile.state, usual.state]).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
      hostileMs.push(hostile.usedMs);
      usualMs.push(usual.usedMs);
      held.push(hostile.heldMs);
    }
    expect(median(held)).toBeLessThan(MOST_HELD_MS);
    // The least of each: garbage collections and other work of the machine add to some of them.
    expect(Math.min(...hostileMs) / Math.min(...usualMs)).toBeLessThan(mostRatio);
  });
});

it('a call is answered while a hostile stream is read', async () => {
  await using agents = new Agents();
  const { client } = await agents.listen(WAYS.callAgent);
  const ended: string[] = [];
  const hostile = client.sendMessage(`unknown lines ${20 * BYTES}`).then(() => ended.push('hostile'));
  // The first answer may come before the stream begins.
  for (let calls = 0; calls < 3; calls += 1) await client.sendMessage('hi').then(() => ended.push('hi'));
  await hostile;
  expect(ended).toEqual(['hi', 'hi', 'hi', 'hostile']);
});

it.each([
  ['comments without end', 'comment lines', 2_000_000, {}],
  ['events of no known kind without end', 'events of no known kind', 2_000_000, {}],
  ['a value with too many members', 'a wide value', 1_000_000, { answerItems: 1_000 }],
])('a call of an agent ends at its limit: %s', async (_, shape, bytes, limits) => {
  await using agents = new Agents();
  const { client } = await agents.listen(WAYS.callAgent, {}, { maxBytes: 1_000_000, ...limits });
  expect(stateOf(taskOf(await client.sendMessage(`${shape} ${bytes}`)))).toBe('TASK_STATE_FAILED');
  expect(stateOf(taskOf(await client.sendMessage('hi')))).toBe('TASK_STATE_COMPLETED');
});
