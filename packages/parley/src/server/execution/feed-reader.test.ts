import { describe, expect, it } from 'vitest';
import { ManualClock, settlePromises } from '../../../test/manual-clock.js';
import type { Task } from '../../model/task.js';
import type { TaskState } from '../../model/task-state.js';
import type { RecordPage, TaskStorage } from '../../store/task-storage.js';
import { LogRecord } from '../../task/log-record.js';
import { announcedState } from './agent-event.js';
import { FeedReader } from './feed-reader.js';
import { TaskFeeds } from './task-feeds.js';

const KEY = { scope: { agent: 'a', tenant: '', owner: null }, id: 't' };

function record(seq: number, state: TaskState = 'TASK_STATE_WORKING'): LogRecord {
  return new LogRecord(seq, 1, { statusUpdate: { taskId: 't', contextId: 'c', status: { state } } });
}

/** A record that fills most of a buffer of 1,000 bytes. */
function large(seq: number): LogRecord {
  const message = { messageId: `m${seq}`, role: 'ROLE_AGENT', parts: [{ text: 'x'.repeat(700) }] } as const;
  const status = { state: 'TASK_STATE_WORKING', message } as const;
  return new LogRecord(seq, 1, { statusUpdate: { taskId: 't', contextId: 'c', status } });
}

/** A log that answers reads when the test says so. */
class SlowLog {
  readonly reads: { readonly after: number; readonly answer: (page: RecordPage) => void }[] = [];
  /** The current task, for a reader whose records were dropped. */
  stored: { readonly task: Task; readonly seq: number } | undefined;
  readonly storage: TaskStorage = new Proxy({} as TaskStorage, {
    get: (_storage, call) =>
      call === 'task'
        ? async () => this.stored
        : (_key: unknown, after: number) =>
            new Promise<RecordPage>((answer) => {
              this.reads.push({ after, answer });
            }),
  });
}

function reader() {
  const feeds = new TaskFeeds();
  const clock = new ManualClock();
  const log = new SlowLog();
  const limits = { readerBufferBytes: 1_000, readerStallMs: 30_000 };
  const made = new FeedReader(
    { feeds, storage: log.storage, clock, limits },
    { key: KEY, endsAfter: (each) => announcedState(each.event) === 'TASK_STATE_COMPLETED' },
  );
  return { feeds, clock, log, reader: made };
}

describe('a reader of a task’s log', () => {
  it('gives records that are there already at once, in order, and not the end', async () => {
    const { feeds, reader: reads } = reader();
    const head = { event: record(1).event, seq: 1 };
    reads.begin(1, head);
    feeds.publish(KEY, [record(2), record(3, 'TASK_STATE_COMPLETED')], undefined);
    const seqs = [reads.ready(), reads.ready(), reads.ready(), reads.ready()].map((each) => each?.seq);
    expect(seqs).toEqual([1, 2, 3, undefined]);
    expect(await reads.next()).toEqual({ done: true, value: undefined });
  });

  it('is not dropped as stalled while its records are taken at once', async () => {
    const { feeds, clock, reader: reads } = reader();
    reads.begin(0);
    feeds.publish(KEY, [large(1), large(2)], undefined);
    expect(clock.pendingTimers).toBe(1);
    expect(reads.ready()?.seq).toBe(1);
    expect(clock.pendingTimers).toBe(0);
    expect(reads.ready()).toBeUndefined();
    await reads.return();
  });

  it('asks the log again for what was committed while its page was on the way', async () => {
    const { feeds, log, reader: reads } = reader();
    reads.begin(0).replay();
    const first = reads.next();
    expect(log.reads[0]?.after).toBe(0);
    feeds.publish(KEY, [record(2, 'TASK_STATE_COMPLETED')], undefined);
    log.reads[0]?.answer({ records: [record(1)], floor: 1, last: 1 });
    expect((await first).value?.seq).toBe(1);
    const second = reads.next();
    await Promise.resolve();
    expect(log.reads[1]?.after).toBe(1);
    log.reads[1]?.answer({ records: [record(2, 'TASK_STATE_COMPLETED')], floor: 1, last: 2 });
    expect((await second).value?.seq).toBe(2);
    expect((await reads.next()).done).toBe(true);
    expect(feeds.size).toBe(0);
  });

  it('fills a gap in what it is offered from the log', async () => {
    const { feeds, log, reader: reads } = reader();
    reads.begin(3);
    const next = reads.next();
    feeds.publish(KEY, [record(5)], undefined);
    await Promise.resolve();
    expect(log.reads[0]?.after).toBe(3);
    log.reads[0]?.answer({ records: [record(4), record(5)], floor: 1, last: 5 });
    expect((await next).value?.seq).toBe(4);
    expect((await reads.next()).value?.seq).toBe(5);
  });

  it('is not dropped while its consumer takes what comes, however often it falls behind', async () => {
    const { clock, feeds, log, reader: reads } = reader();
    reads.begin(3);
    feeds.publish(KEY, [record(5)], undefined);
    const first = reads.next();
    await settlePromises();
    // It falls behind while it reads the log, and again because the page is larger than its buffer.
    reads.look({ seq: 7, state: 'TASK_STATE_WORKING', lastTurn: 1 });
    log.reads[0]?.answer({ records: [large(4), large(5)], floor: 1, last: 7 });
    expect((await first).value?.seq).toBe(4);
    const second = reads.next();
    await settlePromises();
    log.reads[1]?.answer({ records: [large(5)], floor: 1, last: 7 });
    expect((await second).value?.seq).toBe(5);
    const third = reads.next();
    await settlePromises();
    log.reads[2]?.answer({ records: [record(6), record(7)], floor: 1, last: 7 });
    expect((await third).value?.seq).toBe(6);
    expect((await reads.next()).value?.seq).toBe(7);
    const later = reads.next();
    await clock.advance(60_000);
    feeds.publish(KEY, [record(8)], undefined);
    expect((await later).value?.seq).toBe(8);
  });

  it.each([5, 9])('gives the task in place of records that the log has lost up to %i, and says so', async (seq) => {
    const { feeds, log, reader: reads } = reader();
    log.stored = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }, seq };
    reads.begin(4);
    feeds.publish(KEY, [record(6)], undefined);
    const next = reads.next();
    await settlePromises();
    log.reads[0]?.answer({ records: [], floor: seq + 1, last: seq });
    expect((await next).value).toEqual({ event: { task: log.stored.task }, seq, reset: true });
    const behind = reads.next();
    await settlePromises();
    log.reads[1]?.answer({ records: [record(seq + 1)], floor: seq + 1, last: seq + 1 });
    expect((await behind).value).toMatchObject({ seq: seq + 1 });
    expect((await behind).value).not.toHaveProperty('reset');
    expect(log.reads.map(({ after }) => after)).toEqual([4, seq]);
  });

  it('ends with a record that its snapshot has shown already', async () => {
    const { feeds, reader: reads } = reader();
    reads.begin(4);
    feeds.publish(KEY, [record(4, 'TASK_STATE_COMPLETED')], undefined);
    expect((await reads.next()).done).toBe(true);
  });

  it.each<[string, number, RecordPage]>([
    ['a task that is gone', 0, { records: [], floor: 1, last: 0 }],
    ['a task that is gone, after some of it', 3, { records: [], floor: 1, last: 0 }],
    ['a task that was made again', 3, { records: [], floor: 1, last: 1 }],
  ])('ends when it is behind on %s', async (_name, after, page) => {
    const { feeds, clock, log, reader: reads } = reader();
    reads.begin(after);
    feeds.publish(KEY, [record(after + 2)], undefined);
    const next = reads.next();
    log.reads[0]?.answer(page);
    await expect(next).rejects.toThrow('Task not found');
    expect(log.reads).toHaveLength(1);
    expect((await reads.next()).done).toBe(true);
    expect([feeds.size, clock.pendingTimers]).toEqual([0, 0]);
  });

  it.each<[string, RecordPage]>([
    ['nothing', { records: [], floor: 1, last: 3 }],
    ['a gap', { records: [record(5)], floor: 1, last: 5 }],
  ])('reads a log no second time that answers with %s', async (_name, page) => {
    const { feeds, log, reader: reads } = reader();
    reads.begin(3);
    feeds.publish(KEY, [record(5)], undefined);
    const next = reads.next();
    log.reads[0]?.answer(page);
    await expect(next).rejects.toThrow('has a gap after record 3');
    expect(log.reads).toHaveLength(1);
    expect(feeds.size).toBe(0);
  });

  it('reads the log again for what is offered while a read without news is under way', async () => {
    const { feeds, log, reader: reads } = reader();
    reads.begin(3).replay();
    const next = reads.next();
    feeds.publish(KEY, [record(4)], undefined);
    log.reads[0]?.answer({ records: [], floor: 1, last: 3 });
    await settlePromises();
    log.reads[1]?.answer({ records: [record(4)], floor: 1, last: 4 });
    expect((await next).value?.seq).toBe(4);
  });

  it('that is left while it waits answers at once and leaves nothing', async () => {
    const { feeds, clock, reader: reads } = reader();
    reads.begin(1);
    const pending = reads.next();
    await reads.return();
    expect((await pending).done).toBe(true);
    expect(feeds.size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
