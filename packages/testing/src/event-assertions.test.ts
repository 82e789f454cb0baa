import type { StreamResponse, TaskState } from 'parley-a2a';
import { BaseRequestHandler, type StreamItem } from 'parley-a2a/server';
import { describe, expect, it } from 'vitest';
import * as testing from './index.js';

const ids = { taskId: 't', contextId: 'c' };
const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
const createdTask = (state: TaskState = 'TASK_STATE_SUBMITTED', second = 0): StreamResponse => ({
  task: { id: 't', contextId: 'c', status: { state, timestamp: at(second) } },
});
const status = (state: TaskState, second = 1, over: object = {}): StreamResponse => ({
  statusUpdate: { ...ids, status: { state, timestamp: at(second) }, ...over },
});
const chunk = (over: object = {}, artifactId = 'a'): StreamResponse => ({
  artifactUpdate: { ...ids, artifact: { artifactId, parts: [{ text: 'x' }] }, ...over },
});
const reply = (over: object = {}): StreamResponse => ({
  message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }], ...over },
});
const working = status('TASK_STATE_WORKING');
const completed = status('TASK_STATE_COMPLETED', 2);
const good = [createdTask(), working, chunk(), chunk({ append: true, lastChunk: true }), completed];

/** A server whose streams have the given events, whatever they are. */
class BrokenServer extends BaseRequestHandler {
  readonly #events: readonly StreamResponse[];

  constructor(events: readonly StreamResponse[]) {
    super();
    this.#events = events;
  }

  sendMessage = () => Promise.reject(new Error('streams only'));
  getTask = () => Promise.reject(new Error('streams only'));
  cancelTask = () => Promise.reject(new Error('streams only'));

  override async *sendStreamingMessage(): AsyncGenerator<StreamItem> {
    for (const event of this.#events) yield { event };
  }
}

/** The events that a client gets of such a server. */
async function receiveAll(events: readonly StreamResponse[]): Promise<readonly StreamResponse[]> {
  const tested = await testing.testAgent(new BrokenServer(events));
  const collector = new testing.EventCollector(tested.client.sendStreamingMessage('go'));
  await collector.waitForEnd().catch(() => {});
  await tested.close();
  return collector.events;
}

/** Events that no client gets, because the server or the client refuses them or ends before: read from the source. */
async function* raw(events: readonly StreamResponse[]): AsyncGenerator<StreamResponse> {
  yield* events;
}

interface Fault {
  readonly name: string;
  readonly events: readonly StreamResponse[];
  readonly check: (events: readonly StreamResponse[]) => void;
  readonly says: RegExp;
}

const {
  assertTaskCreationAndWorkingStatus: creation,
  assertUniqueFinalEventIsLast: final,
  assertConsistentIdPropagation: propagation,
  assertChronologicalOrdering: ordering,
  assertValidArtifactUpdates: artifacts,
  assertTaskFinalState,
  assertAllProtocolInvariants: all,
} = testing;

/** Faults that reach a client. */
const onTheWire: readonly Fault[] = [
  {
    name: 'no task at first',
    events: [working, completed],
    check: creation,
    says: /assertTaskCreationAndWorkingStatus: event 0: expected a task, but got statusUpdate TASK_STATE_WORKING/,
  },
  {
    name: 'a result before any work',
    events: [createdTask(), chunk(), working, completed],
    check: creation,
    says: /event 1: expected TASK_STATE_WORKING before any result, but got artifactUpdate a/,
  },
  {
    name: 'no work at all',
    events: [createdTask(), completed],
    check: creation,
    says: /event 1: expected TASK_STATE_WORKING/,
  },
  {
    name: 'a task that is not new',
    events: [createdTask('TASK_STATE_COMPLETED')],
    check: creation,
    says: /event 0: expected a new task/,
  },
  {
    name: 'a status of another task',
    events: [createdTask(), status('TASK_STATE_WORKING', 1, { taskId: 'other' }), completed],
    check: propagation,
    says: /event 1: expected taskId of statusUpdate TASK_STATE_WORKING "t", but got "other"/,
  },
  {
    name: 'an artifact of another context',
    events: [createdTask(), working, chunk({ contextId: 'other' }), completed],
    check: propagation,
    says: /event 2: expected contextId of artifactUpdate a "c", but got "other"/,
  },
  {
    name: 'a message of another task in a status',
    events: [
      createdTask(),
      status('TASK_STATE_WORKING', 1, {
        status: {
          state: 'TASK_STATE_WORKING',
          message: { messageId: 'm', role: 'ROLE_AGENT', taskId: 'other', parts: [{ text: 'x' }] },
        },
      }),
      completed,
    ],
    check: propagation,
    says: /event 1: expected taskId of the message of statusUpdate TASK_STATE_WORKING "t", but got "other"/,
  },
  {
    name: 'other ids than the test expects',
    events: good,
    check: (events) => propagation(events, { contextId: 'mine' }),
    says: /event 0: expected contextId of task TASK_STATE_SUBMITTED "mine", but got "c"/,
  },
  {
    name: 'a time that goes back',
    events: [createdTask(), status('TASK_STATE_WORKING', 3), completed],
    check: ordering,
    says: /event 2: expected a time from 2026-01-01T00:00:03.000Z on, but got 2026-01-01T00:00:02.000Z/,
  },
  {
    name: 'a chunk of an artifact that was not there',
    events: [createdTask(), working, chunk({ append: true }), completed],
    check: artifacts,
    says: /event 2: expected artifact a before its chunks/,
  },
  {
    name: 'a chunk after the last one',
    events: [createdTask(), working, chunk({ lastChunk: true }), chunk({ append: true }), completed],
    check: artifacts,
    says: /event 3: expected no chunk of a after its last one/,
  },
  {
    name: 'another state at the end',
    events: good,
    check: (events) => assertTaskFinalState(events, 'TASK_STATE_FAILED'),
    says: /event 4: expected TASK_STATE_FAILED, but got TASK_STATE_COMPLETED/,
  },
];

/** Faults that only the source shows. */
const atTheSource: readonly Fault[] = [
  {
    name: 'an event after the final one',
    events: [...good, chunk()],
    check: final,
    says: /event 5: expected no event after the final one \(event 4, statusUpdate TASK_STATE_COMPLETED\)/,
  },
  {
    name: 'two final events',
    events: [createdTask(), working, completed, completed],
    check: final,
    says: /event 3: expected no event after the final one/,
  },
  {
    name: 'no final event',
    events: [createdTask(), working],
    check: final,
    says: /event 1: expected a final event at the end, but got statusUpdate TASK_STATE_WORKING/,
  },
  { name: 'no event', events: [], check: final, says: /expected a final event, but got no event/ },
  {
    name: 'only a new task',
    events: [createdTask()],
    check: creation,
    says: /expected TASK_STATE_WORKING, but got no such/,
  },
  {
    name: 'a time that cannot be read',
    events: [
      createdTask(),
      { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING', timestamp: 'yesterday' } } },
      completed,
    ],
    check: ordering,
    says: /event 1: expected a timestamp such as .*, but got "yesterday"/,
  },
  {
    name: 'an artifact without parts',
    events: [
      createdTask(),
      working,
      { artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [] } } },
      completed,
    ],
    check: artifacts,
    says: /event 2: expected a valid artifact.parts/,
  },
  {
    name: 'events without a status',
    events: [chunk()],
    check: (events) => assertTaskFinalState(events, 'TASK_STATE_COMPLETED'),
    says: /but got no status/,
  },
  {
    name: 'an event with unknown members',
    events: [{ ...createdTask(), ...({ colour: 'red' } as object) }, working, completed],
    check: all,
    says: /assertAllProtocolInvariants: event 0: expected a valid event/,
  },
  {
    name: 'a message after a task',
    events: [createdTask(), reply(ids)],
    check: all,
    says: /event 1: expected a direct message to be the only event/,
  },
];

describe('each assertion', () => {
  it.each(onTheWire)('finds a broken server: $name', async ({ events, check, says }) => {
    const found = await receiveAll(events);
    expect(() => check(found)).toThrow(says);
    expect(() => check(found)).toThrow(testing.ProtocolAssertionError);
  });

  it.each(atTheSource)('finds a broken source: $name', async ({ events, check, says }) => {
    const collector = new testing.EventCollector(raw(events));
    await collector.waitForEnd();
    expect(() => check(collector.events)).toThrow(says);
  });

  it.each([
    ...onTheWire.filter(({ name }) => !/another state|other ids/.test(name)),
    ...atTheSource.filter(({ name }) => !/without a status/.test(name)),
  ])('is part of all invariants: $name', ({ events }) => {
    expect(() => all(events)).toThrow(testing.ProtocolAssertionError);
  });

  it.each([
    ['a task that completes', good],
    ['a task that is rejected', [createdTask(), status('TASK_STATE_REJECTED')]],
    ['a task that works at once', [createdTask('TASK_STATE_WORKING'), completed]],
    ['a question', [createdTask(), working, status('TASK_STATE_INPUT_REQUIRED', 2)]],
    ['a direct message', [reply()]],
    ['an artifact that is replaced', [createdTask(), working, chunk({ lastChunk: true }), chunk(), completed]],
  ])('holds for %s', (_name, events) => {
    all(events);
    all({ events });
  });

  const call = (state: string, over: object = {}) => ({ toolCall: { id: '1.1', tool: 'pay', state, ...over } });
  const record = (state: string, over: object = {}, append = true): StreamResponse => ({
    artifactUpdate: { ...ids, artifact: { artifactId: 'tool-calls', parts: [{ data: call(state, over) }] }, append },
  });
  const failed = { failure: { reason: 'threw', message: 'no' } };
  const canceled = status('TASK_STATE_CANCELED', 2);
  const began = record('running', { run: 1, messageIds: ['m'] }, false);
  const taskAsking = (state: string, over: object = {}): StreamResponse => ({
    task: {
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING', timestamp: at(0) },
      artifacts: [
        {
          artifactId: 'tool-calls',
          parts: [{ data: call('requested', { run: 1, messageIds: ['m'] }) }, { data: call(state, over) }],
        },
      ],
    },
  });

  it.each([
    ['a call with a result', [createdTask(), working, began, record('succeeded', { output: 1 }), completed]],
    ['an open call of a task that failed', [createdTask(), working, began, status('TASK_STATE_FAILED', 2)]],
    [
      'a call of an earlier turn',
      [taskAsking('approved'), record('running'), record('succeeded', { output: 1 }), completed],
    ],
    ['a call that a cancel has ended', [createdTask(), working, began, record('canceled', failed), canceled]],
  ])('holds for tools: %s', (_name, events) => {
    all(events);
  });

  it.each([
    ['a call without an end', [createdTask(), working, began, completed], /expected an end of pay/],
    [
      'a run after the result',
      [createdTask(), working, began, record('succeeded', { output: 1 }), record('running'), completed],
      /expected nothing after succeeded/,
    ],
    [
      'a run of a call that was refused in an earlier turn',
      [taskAsking('refused', failed), record('running'), completed],
      /expected nothing after refused/,
    ],
  ])('finds broken calls of tools: %s', (_name, events, says) => {
    expect(() => all(events)).toThrow(says);
  });

  it('names the state that a task has, and the text of its message', () => {
    const task = testing.createTestTask({
      status: { state: 'TASK_STATE_FAILED', message: testing.createTestMessage({ parts: [{ text: 'no disk' }] }) },
    });
    assertTaskFinalState(task, 'TASK_STATE_FAILED');
    expect(() => assertTaskFinalState(task, 'TASK_STATE_COMPLETED')).toThrow(
      'assertTaskFinalState: expected TASK_STATE_COMPLETED, but got TASK_STATE_FAILED with "no disk"',
    );
  });

  it('tells test runners what it expected', () => {
    const error = new testing.ProtocolAssertionError({ assertion: 'a', eventIndex: 2, expected: 'x', actual: 'y' });
    expect(error).toMatchObject({
      name: 'AssertionError',
      code: 'ERR_ASSERTION',
      eventIndex: 2,
      expected: 'x',
      actual: 'y',
    });
  });
});
