import { describe, expect, it } from 'vitest';
import { deepFaultOf, faultOf } from '../../benchmarks/src/load/answer-check.js';
import { askedTask, storedTask } from '../../benchmarks/src/stored-tasks.js';
import { CHUNKS, chunkText, QUESTION, type WorkloadName } from '../../benchmarks/src/workloads.js';

const answer = (result: unknown, id = '000000000007') => ({
  status: 200,
  body: JSON.stringify({ jsonrpc: '2.0', id, result }),
});
const parts = [{ text: QUESTION }];
const message = { message: { messageId: 'm', role: 'ROLE_AGENT', parts } };
const task = (state: string, artifacts: unknown) => ({ task: { id: 't', status: { state }, artifacts } });
const done = task('TASK_STATE_COMPLETED', [{ artifactId: 'a', parts }]);

const status = (state: string) => ({ statusUpdate: { status: { state } } });
const chunk = (index: number, text = chunkText(index)) => ({
  artifactUpdate: { artifact: { artifactId: 'a', parts: [{ text }] }, append: index > 0 },
});
const events = [
  task('TASK_STATE_SUBMITTED', undefined),
  status('TASK_STATE_WORKING'),
  ...Array.from({ length: CHUNKS }, (_, index) => chunk(index)),
  status('TASK_STATE_COMPLETED'),
];
const stream = (...all: readonly unknown[]) => ({
  status: 200,
  body: all.map((event) => `data: ${answer(event).body}\n\n`).join(''),
});

const oldParts = [{ kind: 'text', text: QUESTION }];
const oldTask = (state: string, artifacts?: unknown) => ({ kind: 'task', id: 't', status: { state }, artifacts });
const oldDone = oldTask('completed', [{ artifactId: 'a', parts: oldParts }]);
const oldMessage = { kind: 'message', messageId: 'm', role: 'agent', parts: oldParts };
const oldEvents = [
  oldTask('submitted'),
  { kind: 'status-update', status: { state: 'working' }, final: false },
  ...Array.from({ length: CHUNKS }, (_, index) => ({ kind: 'artifact-update', ...chunk(index).artifactUpdate })),
  { kind: 'status-update', status: { state: 'completed' }, final: true },
];

const asked = askedTask(7, 100_000);
const page = Array.from({ length: 50 }, (_, index) => storedTask(999 - index));

function faults(workload: WorkloadName, given: { status: number; body: string }): (string | undefined)[] {
  return [faultOf(workload, 7, given), deepFaultOf(workload, given)];
}

describe('the check of answers', () => {
  it.each([
    ['call', answer(message)],
    ['task', answer(done)],
    ['stream', stream(...events)],
    ['stream', { ...stream(...events), body: stream(...events).body.replaceAll('\n', '\r\n') }],
    ['get', answer(storedTask(asked))],
    ['list-1k', answer({ tasks: page, totalSize: 1000 })],
    ['task-rest', { status: 200, body: JSON.stringify(done) }],
    ['call-0.3', answer(oldMessage)],
    ['task-0.3', answer(oldDone)],
    ['stream-0.3', stream(...oldEvents)],
  ] as const)('takes a right one to %s', (workload, given) => {
    expect(faults(workload, given)).toEqual([undefined, undefined]);
  });

  it.each([
    ['call', 'of another status', { ...answer(message), status: 500 }],
    ['call', 'to another request', answer(message, '000000000008')],
    ['call', 'that is a task', answer(done)],
    ['call-0.3', 'that is of 1.0', answer(message)],
    ['task-0.3', 'that is not completed', answer(oldTask('working', oldDone.artifacts))],
    ['stream-0.3', 'that breaks off', stream(...oldEvents.slice(0, -1))],
    ['task', 'that is a message', answer(message)],
    ['task', 'that is not completed', answer(task('TASK_STATE_WORKING', [{ artifactId: 'a', parts }]))],
    ['task', 'without an artifact', answer(task('TASK_STATE_COMPLETED', undefined))],
    ['stream', 'that lacks a chunk', stream(...events.slice(0, 20), ...events.slice(21))],
    ['stream', 'that has a chunk twice', stream(...events.slice(0, 20), ...events.slice(19))],
    ['stream', 'that breaks off', stream(...events.slice(0, -1))],
    ['get', 'of another task', answer(storedTask(asked + 1))],
    ['get', 'without artifacts', answer({ ...storedTask(asked), artifacts: undefined })],
    ['list-1k', 'that lacks a task', answer({ tasks: page.slice(1), totalSize: 1000 })],
    ['stream', 'that ends with a chunk', stream(...events.slice(0, -2), ...events.slice(-2).reverse())],
  ] as const)('refuses one to %s %s', (workload, _, given) => {
    expect(faultOf(workload, 7, given)).toBeDefined();
  });

  it.each([
    ['call', 'with another text', answer({ message: { ...message.message, parts: [{ text: '' }] } })],
    ['task', 'with two artifacts', answer(task('TASK_STATE_COMPLETED', [{ parts }, { parts }]))],
    ['list-1k', 'in another order', answer({ tasks: page.toReversed(), totalSize: 1000 })],
    ['list-1k', 'with another total', answer({ tasks: page, totalSize: 999 })],
    ['stream', 'with chunks in another order', stream(events[0], events[1], events[3], events[2], ...events.slice(4))],
    ['stream', 'with another chunk', stream(...events.slice(0, 2), chunk(0, 'x'), ...events.slice(3))],
    ['stream', 'that does not begin with the task', stream(...events.slice(1))],
    ['stream', 'that is no JSON', { status: 200, body: 'data: {\n\n' }],
  ] as const)('looks at all of some: refuses one to %s %s', (workload, _, given) => {
    expect(deepFaultOf(workload, given)).toBeDefined();
  });
});
