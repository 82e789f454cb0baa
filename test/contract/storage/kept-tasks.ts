import { expect } from 'vitest';
import type { Message } from '../../../packages/parley/src/model/message.js';
import type { Task } from '../../../packages/parley/src/model/task.js';
import type { TaskStorage } from '../../../packages/parley/src/store/task-storage.js';
import type { LogRecord } from '../../../packages/parley/src/task/log-record.js';
import { TaskBuilder } from '../../../packages/parley/src/task/task-builder.js';
import { ALICE, acceptance, acceptedOf, newTask, only, TaskPlay, takeClaim, userMessage } from './task-play.js';
import type { Tested } from './tested-storage.js';

// The tasks in the fixtures of older layouts. A fixture is written once, by the code of its layout.

const HUNDRED_YEARS_MS = 3_155_760_000_000;
const ENDED_LEASE = { node: 'here', leaseMs: 0 };
const HOOK = { id: 'hook', url: 'https://example.com/hook', token: 'token' };
const QUESTION = agentSaid('question', 'Which one?');
const DATA = { data: { number: 2 } };
const REPLY = agentSaid('reply', 'Hello');
const START = '2026-01-01T00:00:00.000Z';

/** The tasks by id, with the count of their records. */
const TASKS: Readonly<Record<string, { readonly task: Task; readonly seq: number }>> = {
  asks: {
    seq: 2,
    task: {
      id: 'asks',
      contextId: 'shared',
      status: { state: 'TASK_STATE_INPUT_REQUIRED', timestamp: START, message: QUESTION },
      history: [userMessage('first of asks')],
    },
  },
  done: {
    seq: 5,
    task: {
      id: 'done',
      contextId: 'shared',
      status: { state: 'TASK_STATE_COMPLETED', timestamp: START },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'one' }, DATA] }],
      history: [userMessage('first of done'), agentSaid('note', "It's a note\nof two lines")],
      metadata: { count: 2 },
    },
  },
  runs: {
    seq: 2,
    task: {
      id: 'runs',
      contextId: 'context of runs',
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: START },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'half' }] }],
      history: [userMessage('first of runs')],
    },
  },
  waits: {
    seq: 1,
    task: {
      id: 'waits',
      contextId: 'alone',
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: START },
      history: [userMessage('first of waits')],
    },
  },
};

/**
 * Fills an empty storage with a finished task, one that waits for input, one whose process ended and one whose turn
 * waits. Two of them have push configurations. A message and a reply have idempotency keys.
 */
export async function writeKeptTasks(tested: Tested): Promise<void> {
  const { storage } = tested;
  const inShared = (id: string) => ({
    task: { create: newTask(tested, id, { contextId: 'shared', history: [userMessage(`first of ${id}`)] }) },
    claim: ENDED_LEASE,
  });
  const done = await TaskPlay.begin(tested, 'done', {
    ...inShared('done'),
    pushConfig: HOOK,
    idempotency: keyOf('message'),
  });
  const note = { history: [agentSaid('note', "It's a note\nof two lines")] };
  const { id: taskId, contextId } = done;
  const data = { artifactUpdate: { taskId, contextId, artifact: { artifactId: 'a', parts: [DATA] }, append: true } };
  await done.write(['TASK_STATE_WORKING', { event: done.chunk('one', false), extras: note }, data]);
  const end = { event: done.status('TASK_STATE_COMPLETED'), extras: { metadata: { count: 2 } } };
  await done.write([end], { endsTurn: done.turn });

  const asks = await TaskPlay.begin(tested, 'asks', inShared('asks'));
  await asks.write([asks.status('TASK_STATE_INPUT_REQUIRED', { message: QUESTION })], { endsTurn: asks.turn });

  const runs = await TaskPlay.begin(tested, 'runs', { claim: ENDED_LEASE });
  await runs.write([runs.chunk('half', false)], { checkpoint: { step: 1 } });
  acceptedOf(await storage.accept(acceptance(userMessage('second of runs'), 'runs')));

  const waits = newTask(tested, 'waits', { contextId: 'alone', history: [userMessage('first of waits')] });
  acceptedOf(await storage.accept(acceptance(userMessage('first of waits'), waits, { pushConfig: HOOK })));

  await storage.keys.remember(ALICE, keyOf('reply'), REPLY);
}

/** Facts that a layout did not keep. */
export interface MissingFacts {
  readonly keys?: boolean;
  readonly deliveries?: boolean;
}

/** Checks that a storage has all that `writeKeptTasks` wrote, and that its work goes on. */
export async function checkKeptTasks(tested: Tested, missing: MissingFacts = {}): Promise<void> {
  await checkTasks(tested.storage);
  await checkKeys(tested.storage, missing);
  await checkDeliveries(tested.storage, missing.deliveries ? {} : { done: [1, 2, 3, 4, 5], waits: [1] });
  await checkTurns(tested);
  await checkDeliveries(tested.storage, { waits: [2] });
  await checkAnswer(tested);
}

async function checkTasks(storage: TaskStorage): Promise<void> {
  const all = { scope: ALICE, orderBy: 'created' as const, limit: 9, artifacts: true, history: true };
  const { tasks, total } = await storage.tasks(all);
  expect(total).toBe(4);
  expect(Object.fromEntries(tasks.map(({ task, seq }) => [task.id, { task, seq }]))).toEqual(TASKS);
  const shared = await storage.tasks({ ...all, contextId: 'shared' });
  expect(shared.tasks.map(({ task }) => task.id).sort()).toEqual(['asks', 'done']);
  const alone = await storage.tasks({ ...all, contextId: 'alone', states: ['TASK_STATE_SUBMITTED'] });
  expect(alone.tasks.map(({ task }) => task.id)).toEqual(['waits']);
  for (const [id, { task, seq }] of Object.entries(TASKS)) {
    expect((await storage.task(ALICE, id))?.task).toEqual(task);
    const records = await recordsOf(storage, id);
    expect(records.map((record) => record.seq)).toEqual(Array.from({ length: seq }, (_, at) => at + 1));
    const [first, ...rest] = records;
    if (first === undefined || first.event.task === undefined) throw new Error(`The log of ${id} has no task`);
    expect(TaskBuilder.fold(first.event.task, rest)).toEqual(task);
  }
}

async function checkKeys({ keys }: TaskStorage, missing: MissingFacts): Promise<void> {
  const outcomeOf = (outcome: object) => (missing.keys ? undefined : { digest: 'digest', outcome });
  expect(await keys.recall(ALICE, 'message')).toEqual(outcomeOf({ taskId: 'done', turn: 1 }));
  expect(await keys.recall(ALICE, 'reply')).toEqual(outcomeOf({ reply: REPLY }));
}

/** Claims and settles the pending deliveries, given as sequence numbers by task. */
async function checkDeliveries({ push }: TaskStorage, pending: Readonly<Record<string, number[]>>): Promise<void> {
  for (const id of ['done', 'waits']) expect(await push.config(ALICE, id, 'hook')).toMatchObject(HOOK);
  const { claims } = await push.claim({ node: 'new', leaseMs: 1_000, agents: ['test'], limit: 9, maxBytes: 1e6 });
  expect(Object.fromEntries(claims.map(({ key, records }) => [key.id, records.map(({ seq }) => seq)]))).toEqual(
    pending,
  );
  for (const claim of claims) {
    expect(claim.config).toMatchObject(HOOK);
    expect(await push.settle(claim, { kind: 'delivered', through: claim.last, status: 200 })).toBe(true);
  }
}

async function checkTurns(tested: Tested): Promise<void> {
  const { storage } = tested;
  const { claims } = await storage.claim({ node: 'new', leaseMs: 10_000, agents: ['test'], limit: 9 });
  const byId = Object.fromEntries(claims.map((claim) => [claim.task.id, claim]));
  const caller = { extensions: [], version: '1.0' };
  expect(byId).toEqual({
    runs: expect.objectContaining({
      ...TASKS.runs,
      ...{ turn: 1, message: userMessage('first of runs'), caller, began: true, checkpoint: { step: 1 } },
    }),
    waits: expect.objectContaining({
      ...TASKS.waits,
      ...{ turn: 1, attempt: 1, message: userMessage('first of waits'), caller, began: false },
    }),
  });
  for (const [id, waiting] of [
    ['runs', 1],
    ['waits', 0],
  ] as const) {
    const play = new TaskPlay(tested, only(claims.filter(({ task }) => task.id === id)));
    expect(await play.write(['TASK_STATE_WORKING'], { endsTurn: 1 })).toBe(waiting);
  }
  const next = await storage.claim({ node: 'new', leaseMs: 10_000, agents: ['test'], limit: 9 });
  expect(only(next.claims)).toMatchObject({ turn: 2, attempt: 1, message: userMessage('second of runs') });
}

/** Answers the task that waits for input. Its second turn ends it. */
async function checkAnswer(tested: Tested): Promise<void> {
  const lease = { node: 'new', leaseMs: 10_000 };
  const claim = takeClaim(await tested.storage.accept(acceptance(userMessage('answer'), 'asks', { claim: lease })));
  expect(claim.turn).toBe(2);
  const play = new TaskPlay(tested, claim);
  await play.write(['TASK_STATE_COMPLETED'], { endsTurn: 2 });
  expect((await tested.storage.task(ALICE, 'asks'))?.task).toEqual(play.task);
}

async function recordsOf(storage: TaskStorage, id: string): Promise<readonly LogRecord[]> {
  const page = await storage.records({ scope: ALICE, id }, 0, 1_048_576);
  return page.records;
}

function keyOf(key: string) {
  return { key, digest: 'digest', ttlMs: HUNDRED_YEARS_MS };
}

function agentSaid(messageId: string, text: string): Message {
  return { messageId, role: 'ROLE_AGENT', parts: [{ text }] };
}
