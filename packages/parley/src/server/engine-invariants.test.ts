import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { command } from '../../test/engine-commands.js';
import { type Reader, SCOPE, World } from '../../test/engine-world.js';
import { isInterrupted, isTerminal } from '../model/task-state.js';
import type { StreamItem } from '../task/stream-item.js';
import { TaskBuilder } from '../task/task-builder.js';
import { announcedState } from './execution/agent-event.js';

async function checkTask(world: World, id: string): Promise<Map<number, string>> {
  const stored = await world.memory.task(SCOPE, id);
  const records = await world.records(id);
  if (!stored) throw new Error(`task ${id} is gone`);
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
  expect(stored.seq).toBe(records.length);

  const first = records[0]?.event;
  if (!first || first.task === undefined) throw new Error('the first event is the task');
  expect(first.task.status.state).toBe('TASK_STATE_SUBMITTED');

  const builder = new TaskBuilder(first.task);
  let time = '';
  let turn = 0;
  for (const [index, record] of records.entries()) {
    if (index > 0) builder.apply(record);
    const { event } = record;
    const about =
      event.task !== undefined
        ? [event.task.id, event.task.contextId]
        : event.statusUpdate !== undefined
          ? [event.statusUpdate.taskId, event.statusUpdate.contextId]
          : [event.artifactUpdate.taskId, event.artifactUpdate.contextId];
    expect(about).toEqual([id, first.task.contextId]);
    const state = announcedState(record.event);
    if (state && isTerminal(state)) expect(index).toBe(records.length - 1);
    const status =
      event.task !== undefined
        ? event.task.status
        : event.statusUpdate !== undefined
          ? event.statusUpdate.status
          : undefined;
    if (status) {
      expect((status.timestamp ?? '') >= time).toBe(true);
      time = status.timestamp ?? '';
    }
    const before = records[index - 1];
    if (before?.turn === record.turn && announcedState(before.event) === 'TASK_STATE_INPUT_REQUIRED') {
      expect(['TASK_STATE_CANCELED', 'TASK_STATE_FAILED']).toContain(state);
    }
    // Turns never interleave: each one writes all its records before the next one begins.
    if (record.turn > 0) {
      expect(record.turn).toBeGreaterThanOrEqual(turn);
      turn = record.turn;
    }
  }
  expect(builder.view()).toEqual(stored.task);
  const second = records[1] && announcedState(records[1].event);
  if (records[1]?.turn === 1) {
    expect(['TASK_STATE_WORKING', 'TASK_STATE_REJECTED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED']).toContain(second);
  }
  // No turn is left: a task has ended or waits for its caller.
  const { state } = stored.task.status;
  expect(isTerminal(state) || isInterrupted(state), `${id} is stuck in ${state}`).toBe(true);
  return new Map(records.map((record) => [record.seq, record.text]));
}

function checkReader(reader: Reader, logs: Map<string, Map<number, string>>): void {
  let last: number | undefined;
  for (const [index, { seq, event }] of reader.items.entries()) {
    if (seq === undefined) {
      expect(event.message !== undefined).toBe(true);
      expect(reader.items).toHaveLength(1);
      return;
    }
    const id = taskIdOf(event);
    const log = logs.get(id);
    if (event.task !== undefined) {
      // A snapshot, at the start or after a reset: sequence numbers never decrease.
      if (last !== undefined) expect(seq).toBeGreaterThanOrEqual(last);
    } else {
      if (last !== undefined) expect(seq).toBe(last + 1);
      expect(JSON.stringify(event)).toBe(log?.get(seq));
    }
    expect(index === 0 || last !== undefined).toBe(true);
    last = seq;
  }
}

/** Checks that a reader has got all records, and that its stream has ended at the right time. */
function checkEnd(reader: Reader, logs: Map<string, Map<number, string>>): void {
  const { dead, closing } = reader.process;
  if (reader.dropped || reader.stalled || reader.failed || dead || closing) return;
  const id = reader.items.map(({ event }) => taskIdOf(event)).find((found) => found !== '');
  const last = [...(logs.get(id ?? '') ?? [])].at(-1);
  if (!last) return;
  const event = JSON.parse(last[1]) as StreamItem['event'];
  const state = event.statusUpdate !== undefined ? event.statusUpdate.status.state : 'TASK_STATE_UNSPECIFIED';
  if (isTerminal(state) || (reader.of === 'message' && state === 'TASK_STATE_INPUT_REQUIRED')) {
    expect(reader.ended, `a stream of ${id} hangs`).toBe(true);
  } else if (reader.of === 'task') {
    expect(reader.ended, `a subscription to ${id} ended before its task`).toBe(false);
  }
  if (reader.of === 'task') expect(reader.items.at(-1)?.seq).toBe(last[0]);
}

function taskIdOf(event: StreamItem['event']): string {
  if (event.task !== undefined) return event.task.id;
  if (event.statusUpdate !== undefined) return event.statusUpdate.taskId;
  return event.artifactUpdate !== undefined ? event.artifactUpdate.taskId : '';
}

const runs = Number(process.env.TEST_LONG ? 20_000 : 500);

describe('the invariants of the engine', () => {
  it.each(['task', 'either'] as const)(
    'hold over random interleavings (replies: %s)',
    async (replies) => {
      await fc.assert(
        fc.asyncProperty(
          fc.boolean(),
          fc.array(command, { minLength: 4, maxLength: 40 }),
          async (resumable, commands) => {
            const world = new World(replies, resumable, commands);
            for (const each of commands) await world.apply(each);
            await world.finish();
            const logs = new Map<string, Map<number, string>>();
            for (const id of await world.taskIds()) logs.set(id, await checkTask(world, id));
            for (const reader of world.readers) checkReader(reader, logs);
            for (const reader of world.readers) checkEnd(reader, logs);
            expect(world.overlaps).toBe(0);
            expect(world.storage.overtaken).toEqual([]);
            expect(world.lateStarts).toBe(0);
            expect(world.runningTurns).toBe(0);
            expect(world.takenPlaces).toBe(0);
            const open = world.readers.filter(({ ended, process }) => !ended && !process.dead);
            expect(world.watchedTasks).toBeLessThanOrEqual(open.length);
            expect(world.senders.filter(({ process, settled }) => !process.dead && !settled)).toEqual([]);
            for (const reader of world.readers)
              if (reader.dropped && !reader.paused && !reader.process.dead) expect(reader.ended).toBe(true);
          },
        ),
        { numRuns: runs, endOnFailure: false },
      );
    },
    600_000,
  );
});
