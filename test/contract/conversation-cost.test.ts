import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import type { Task } from '../../packages/parley/src/model/task.js';
import { conversationIn, entryOfMessage } from '../../packages/parley/src/server/conversation.js';
import type { SqliteStorage } from '../../packages/parley/src/store/sqlite/sqlite-storage.js';
import { SqliteFiles } from '../../packages/parley/test/sqlite-files.js';
import { median } from '../support/median.js';

const SCOPE = { agent: '/', tenant: '', owner: 'ada' };
const CONTEXT = 'of-the-reader';
/** Each turn has a question and an answer. The message of the reader is one more entry. */
const TURNS = 100;
const ENTRIES = 2 * TURNS + 1;
const READS = 61;
const ROUNDS = 5;
/** Limit in ms. The short form allows more, because other tests use the machine. */
const MOST_MS = process.env.TEST_LONG === undefined ? 20 : 2;
const ANSWER = 'An answer of a few sentences, as a model gives it to a question. '.repeat(4);
const MESSAGE = { messageId: 'now', role: 'ROLE_USER' as const, parts: [{ text: 'And now?' }] };

const files = new SqliteFiles();
const opened: SqliteStorage[] = [];
afterAll(async () => {
  await Promise.all(opened.map((storage) => storage.close()));
  files.remove();
});

function finishedTask(number: number, contextId: string): Task {
  const id = `task-${number}`;
  const timestamp = new Date(Date.UTC(2026, 0) + number).toISOString();
  const message = { messageId: `m-${number}`, role: 'ROLE_USER' as const, parts: [{ text: `Question ${number}` }] };
  return {
    id,
    contextId,
    status: { state: 'TASK_STATE_COMPLETED', timestamp },
    history: [{ ...message, taskId: id, contextId }],
    artifacts: [{ artifactId: `a-${number}`, parts: [{ text: ANSWER }] }],
  };
}

/** Makes a file with turns of the context to read, between tasks of other contexts. */
async function storeTurns(turns: number, others: number): Promise<SqliteStorage> {
  const storage = await files.open(systemClock);
  opened.push(storage);
  const ours = Array.from({ length: turns }, (_, at) => finishedTask(at * 3, CONTEXT));
  const theirs = Array.from({ length: others }, (_, at) => finishedTask(at * 3 + 1, `other-${at % 500}`));
  const all = [...ours, ...theirs];
  while (all.length > 0) await Promise.all(all.splice(0, 1_000).map((task) => storage.create(SCOPE, task)));
  return storage;
}

/** Reads the conversation once. Returns the time in ms. */
async function readOnce(storage: SqliteStorage): Promise<number> {
  const began = performance.now();
  const own = [entryOfMessage('own', MESSAGE)];
  const place = { storage, scope: SCOPE, contextId: CONTEXT, own, ownTaskId: 'own', mostBytes: 16_777_216 };
  const entries = await conversationIn(place, { limit: ENTRIES });
  const took = performance.now() - began;
  expect(entries).toHaveLength(ENTRIES);
  return took;
}

/** Returns the median times of alternating reads, so that other work of the machine slows both equally. */
async function compareReads(one: SqliteStorage, other: SqliteStorage): Promise<readonly [one: number, other: number]> {
  const times: [number[], number[]] = [[], []];
  for (let read = 0; read < READS; read++) {
    times[0].push(await readOnce(one));
    times[1].push(await readOnce(other));
  }
  return [median(times[0]), median(times[1])];
}

describe(`a conversation of ${TURNS} turns on SQLite`, () => {
  let few: SqliteStorage;
  beforeAll(async () => {
    few = await storeTurns(TURNS, 50);
  });

  it.each([
    ['among 30,000 stored tasks', TURNS, 30_000],
    ['at the end of a context of 30,000 tasks', 30_000, 0],
  ])('%s is read as fast as among 50', { timeout: 240_000 }, async (_, turns, others) => {
    const many = await storeTurns(turns, others);
    const rounds: (readonly [few: number, many: number])[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await compareReads(few, many));
    // Other work can only increase a time, so the minimum of the rounds is the cost.
    const [fewMs, manyMs] = [Math.min(...rounds.map((pair) => pair[0])), Math.min(...rounds.map((pair) => pair[1]))];
    process.stdout.write(`${manyMs.toFixed(2)} ms, ${fewMs.toFixed(2)} ms among 50\n`);
    // A read of all 30,000 would take 100 times as long.
    expect(manyMs / fewMs, JSON.stringify(rounds)).toBeLessThan(3);
    expect(manyMs, JSON.stringify(rounds)).toBeLessThan(MOST_MS);
  });
});
