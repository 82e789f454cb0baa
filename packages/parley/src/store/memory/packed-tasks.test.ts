import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Message } from '../../model/message.js';
import type { TaskArtifactUpdateEvent, TaskEvent } from '../../model/stream-response.js';
import type { Task, TaskStatus } from '../../model/task.js';
import { LogRecord, type LogRecordExtras } from '../../task/log-record.js';
import { ShapedTask } from '../../task/shaped-task.js';
import { type StatusAndMetadata, TaskBuilder } from '../../task/task-builder.js';
import { PackedTasks } from './packed-tasks.js';
import { LiveTask } from './task-content.js';

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

interface Played {
  readonly task: Task;
  readonly records: readonly LogRecord[];
}

/** Packs tasks that have ended. */
function packTasks(played: readonly Played[]) {
  const owners = played.map(({ task, records: [first, ...rest] }, place) => {
    if (first?.event.task === undefined) throw new TypeError('The first record has the new task');
    const content = new LiveTask(first.event.task, first);
    content.append(rest, task as StatusAndMetadata, task);
    return { id: task.id, contextId: task.contextId, seq: rest.length + 1, place, content, lately: undefined };
  });
  return { owners, packed: new PackedTasks(owners) };
}

/** The log of a task that is packed alone. */
function packLog(played: Played) {
  const { owners, packed } = packTasks([played]);
  const [owner] = owners as [(typeof owners)[0]];
  return {
    bytes: packed.logBytes(owner),
    recordsAfter: (skipped: number) => recordMembers(packed.records(owner, skipped)),
  };
}

it('packed tasks and their records are read from anywhere, whatever was dropped and removed before', () => {
  const steps = fc.array(
    fc.record({
      place: fc.nat({ max: 3 }),
      what: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 90 }) }, fc.constantFrom('remove', 'scrub')),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(
      fc.array(fc.array(change, { maxLength: 200, size: 'max' }), { minLength: 1, maxLength: 4 }),
      steps,
      fc.nat({ max: 200 }),
      fc.constantFrom(undefined, { from: 'before' }),
      (changed, taken, at, metadata) => {
        const played = changed.map((changes) => playChanges(changes, metadata));
        const { owners, packed } = packTasks(played);
        const left = played.map(({ records }) => records);
        const removed = new Set<number>();
        for (const { place, what } of taken) {
          const owner = removed.has(place) ? undefined : owners[place];
          if (what === 'scrub') packed.scrub();
          else if (owner !== undefined && what === 'remove') {
            removed.add(place);
            expect(packed.remove(owner)).toBe(removed.size === played.length);
          } else if (owner !== undefined) {
            packed.dropRecords(owner, Number(what));
            left[place] = left[place]?.slice(Number(what)) ?? [];
          }
        }
        for (const owner of owners) {
          const { place } = owner;
          if (removed.has(place)) continue;
          const records = left[place] ?? [];
          expect(packed.recordCount(owner)).toBe(records.length);
          expect(recordMembers(packed.records(owner, at))).toEqual(recordMembers(records.slice(at)));
          expect(JSON.stringify(packed.read(owner))).toBe(JSON.stringify(played[place]?.task));
        }
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
  const log = packLog({ task, records });
  expect(log.bytes).toBeLessThan(1_500);
  expect(log.recordsAfter(0)).toEqual(recordMembers(records));
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
  const log = packLog({ task, records });
  expect(log.bytes).toBeLessThan(200);
  expect(log.recordsAfter(0)).toEqual(recordMembers(records));
});

it('a packed log needs no space for chunks in a row, and gives each of them back', () => {
  const chunk = (text: string, append: boolean): TaskEvent => ({
    artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ text }] }, ...(append && { append }) },
  });
  const { task, records } = playChanges(
    Array.from({ length: 500 }, (_, at) => [chunk(`word ${at}`, at > 0), {}]),
    undefined,
  );
  const log = packLog({ task, records });
  expect(log.bytes).toBeLessThan(800);
  for (const at of [0, 1, 2, 63, 64, 65, 300, 501]) {
    expect(log.recordsAfter(at)).toEqual(recordMembers(records.slice(at)));
  }
});
