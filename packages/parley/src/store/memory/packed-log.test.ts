import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Message } from '../../model/message.js';
import type { TaskArtifactUpdateEvent, TaskEvent } from '../../model/stream-response.js';
import type { Task, TaskStatus } from '../../model/task.js';
import { LogRecord, type LogRecordExtras } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { TaskBuilder } from '../../task/task-builder.js';
import { PackedLog } from './packed-log.js';

const IDS = { taskId: 't', contextId: 'c' };

const message = (messageId: string): Message => ({ messageId, role: 'ROLE_USER', parts: [{ text: messageId }] });
const status = (state: TaskStatus['state']): TaskStatus => ({ state, timestamp: '2026-01-01T00:00:00Z' });

/** A change of a task, and the extras of its record. */
const change: fc.Arbitrary<readonly [TaskEvent, LogRecordExtras]> = fc.oneof(
  fc
    .record(
      {
        artifact: fc.record(
          {
            artifactId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
            parts: fc.array(
              fc.oneof(
                { weight: 4, arbitrary: fc.record({ text: fc.string({ maxLength: 3 }) }) },
                fc.record({ text: fc.string(), filename: fc.string() }),
                fc.record({ data: fc.integer() }),
              ),
              { maxLength: 3 },
            ),
            name: fc.string(),
            extensions: fc.constantFrom([], ['urn:e']),
          },
          { requiredKeys: ['artifactId', 'parts'] },
        ),
        append: fc.boolean(),
        lastChunk: fc.boolean(),
      },
      { requiredKeys: ['artifact'] },
    )
    .map((update) => [{ artifactUpdate: { ...IDS, ...update } as TaskArtifactUpdateEvent }, {}] as const),
  fc
    .nat({ max: 5 })
    .map(
      (id) =>
        [
          { statusUpdate: { ...IDS, status: status('TASK_STATE_WORKING') } },
          { history: [message(`m${id}`)], metadata: { id } },
        ] as const,
    ),
  fc
    .record({ ended: fc.boolean(), message: fc.option(fc.constant(message('said'))), late: fc.boolean() })
    .map(({ ended, message: said, late }) => {
      const { state, timestamp } = status(ended ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_WORKING');
      const shown = { state, ...(late && { timestamp }), ...(said !== null && { message: said }) };
      return [{ statusUpdate: { ...IDS, status: shown } }, {}] as const;
    }),
  fc.constant([
    { task: { id: 't', contextId: 'c', status: status('TASK_STATE_WORKING'), history: [message('other')] } },
    {},
  ] as const),
);

/** The records of a task from its beginning to its end, and the task. */
function playChanges(
  changes: readonly (readonly [TaskEvent, LogRecordExtras])[],
  metadata: Task['metadata'],
): { task: Task; records: LogRecord[] } {
  const first = new ShapedTask({
    id: 't',
    contextId: 'c',
    status: status('TASK_STATE_SUBMITTED'),
    history: [message('first')],
    metadata,
  });
  const end = { statusUpdate: { ...IDS, status: status('TASK_STATE_COMPLETED') } };
  const all = [[{ task: first }, {}] as const, ...changes, [end, {}] as const];
  const records = all.map(([event, extras], index) => new LogRecord(index + 1, 1, event, extras));
  return { task: TaskBuilder.fold(first, records.slice(1)), records };
}

const recordMembers = (some: Iterable<LogRecord>) =>
  [...some].map(({ seq, turn, text, history, metadata }) => [seq, turn, text, history, metadata]);

it('a packed log gives its records back from anywhere, whatever was dropped before', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 200, size: 'max' }),
      fc.array(fc.nat({ max: 90 }), { maxLength: 4 }),
      fc.nat({ max: 200 }),
      fc.constantFrom(undefined, { from: 'before' }),
      (changes, drops, at, metadata) => {
        const { task, records } = playChanges(changes, metadata);
        let log: PackedLog | undefined = PackedLog.of(records, task);
        let left = records;
        for (const drop of drops) {
          log = log?.without(drop);
          left = left.slice(drop);
        }
        const kept = JSON.parse(JSON.stringify(task)) as Task;
        expect(log?.count ?? 0).toBe(left.length);
        expect(recordMembers(log?.records(at, kept) ?? [])).toEqual(recordMembers(left.slice(at)));
      },
    ),
  );
});

it('a packed log holds no message, artifact or part that the task has', () => {
  const text = 'x'.repeat(10_000);
  const chunk = (append: boolean): TaskEvent => ({
    artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ text }] }, append },
  });
  const addName = (event: TaskEvent): TaskEvent => {
    const update = (event as { readonly artifactUpdate: TaskArtifactUpdateEvent }).artifactUpdate;
    return { artifactUpdate: { ...update, artifact: { name: 'response', ...update.artifact } } };
  };
  const { task, records } = playChanges(
    [
      [{ statusUpdate: { ...IDS, status: status('TASK_STATE_WORKING') } }, { history: [message(text)] }],
      [addName(chunk(false)), {}],
      [chunk(true), {}],
      [chunk(true), { metadata: { seen: true } }],
      [chunk(true), {}],
      [{ artifactUpdate: { ...IDS, artifact: { artifactId: 'b', parts: [{ text }] } } }, {}],
    ],
    undefined,
  );
  const log = PackedLog.of(records, task);
  expect(log.bytes).toBeLessThan(1_500);
  expect(recordMembers(log.records(0, task))).toEqual(recordMembers(records));
});

it('a packed log of a usual task is short', () => {
  const artifact = { artifactId: 'a'.repeat(36), parts: [{ text: 'answer' }], name: 'answer' };
  const { task, records } = playChanges(
    [
      [{ statusUpdate: { ...IDS, status: status('TASK_STATE_WORKING') } }, {}],
      [{ artifactUpdate: { ...IDS, artifact } }, {}],
    ],
    undefined,
  );
  const log = PackedLog.of(records, task);
  expect(log.bytes).toBeLessThan(200);
  expect(recordMembers(log.records(0, task))).toEqual(recordMembers(records));
});

it('a packed log needs no space for chunks in a row, and gives each of them back', () => {
  const chunk = (text: string, append: boolean): TaskEvent => ({
    artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ text }] }, ...(append && { append }) },
  });
  const { task, records } = playChanges(
    Array.from({ length: 500 }, (_, at) => [chunk(`word ${at}`, at > 0), {}]),
    undefined,
  );
  const log = PackedLog.of(records, task);
  expect(log.bytes).toBeLessThan(800);
  for (const at of [0, 1, 2, 63, 64, 65, 300, 501]) {
    expect(recordMembers(log.records(at, task))).toEqual(recordMembers(records.slice(at)));
  }
});
