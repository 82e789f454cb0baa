import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../../test/support/manual-clock.js';
import { CommitQueue, type Committer } from './commit-queue.js';

interface Commit {
  readonly items: readonly string[];
  readonly isLast: boolean;
}

/** A queue of texts, each as many bytes as it has letters, over a storage that answers when the test says so. */
function stage() {
  const clock = new ManualClock();
  const commits: Commit[] = [];
  const done: Commit[] = [];
  const failures: [number, number][] = [];
  let answer: PromiseWithResolvers<void> = Promise.withResolvers();
  const committer: Committer<string, Commit, void> = {
    prepare: (items, isLast) => ({ items, isLast }),
    send(commit) {
      commits.push(commit);
      answer = Promise.withResolvers();
      return answer.promise;
    },
    sent: (commit) => void done.push(commit),
    failed: (_error, attempt, waitMs) => void failures.push([attempt, waitMs]),
  };
  const queue = new CommitQueue(committer, clock, { bufferEvents: 3, bufferBytes: 10, commitDelayMs: 2 });
  const push = (text: string, urgent = true) => queue.push(text, text.length, urgent);
  const settle = async (error?: Error) => {
    if (error) answer.reject(error);
    else answer.resolve();
    await clock.settle();
  };
  return { clock, queue, commits, done, failures, push, settle };
}

/** Resolves to true if a promise has settled. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await Promise.resolve();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

const texts = (commits: readonly Commit[]) => commits.map(({ items }) => items.join(' '));

describe('a commit queue', () => {
  it('keeps one commit under way, and groups what comes meanwhile', async () => {
    const { clock, commits, push, settle } = stage();
    push('a');
    await clock.settle();
    push('b');
    push('c');
    await clock.settle();
    expect(texts(commits)).toEqual(['a']);
    await settle();
    expect(texts(commits)).toEqual(['a', 'b c']);
  });

  it('lets an item wait for more to come, until one is urgent or the delay is over', async () => {
    const { clock, commits, push, settle } = stage();
    push('a', false);
    await clock.settle();
    expect(commits).toEqual([]);
    push('b');
    await clock.settle();
    await settle();
    push('c', false);
    await clock.advance(2);
    expect(texts(commits)).toEqual(['a b', 'c']);
  });

  it.each([
    ['items', ['a', 'b', 'c']],
    ['bytes', ['0123456789']],
  ])('that is full of %s makes its producer wait until there is room', async (_name, items) => {
    const { clock, commits, push, settle } = stage();
    push('x');
    await clock.settle();
    const rooms = items.map((item) => push(item, false));
    const last = rooms.at(-1) ?? Promise.resolve();
    expect(await isResolved(last)).toBe(false);
    await settle();
    expect(texts(commits).at(-1)).toBe(items.join(' '));
    if (items.length === 1) await settle();
    expect(await isResolved(last)).toBe(true);
  });

  it('sends a commit that failed again, later each time, and nothing else before it', async () => {
    const { clock, commits, failures, push, settle } = stage();
    push('a');
    await clock.settle();
    push('b');
    for (const [index, waitMs] of [50, 200, 1_000, 5_000, 5_000].entries()) {
      await settle(new Error('The disk is full'));
      expect(failures.at(-1)).toEqual([index + 1, waitMs]);
      await clock.advance(waitMs);
    }
    expect(new Set(commits).size).toBe(1);
    await settle();
    expect(texts(commits).at(-1)).toBe('b');
  });

  it('resolves a flush when all items before it are committed', async () => {
    const { clock, queue, push, settle } = stage();
    expect(await isResolved(queue.flush())).toBe(true);
    push('a', false);
    const flushed = queue.flush();
    await clock.settle();
    push('b', false);
    expect(await isResolved(flushed)).toBe(false);
    await settle();
    expect(await isResolved(flushed)).toBe(true);
  });

  it('that is finished makes one last commit, also without items', async () => {
    const { clock, commits, queue, push, settle } = stage();
    push('a');
    await clock.settle();
    queue.finish();
    await settle();
    expect(commits).toEqual([
      { items: ['a'], isLast: false },
      { items: [], isLast: true },
    ]);
  });

  it('that is closed drops what is not committed, and lets nobody wait', async () => {
    const { clock, commits, done, queue, push, settle } = stage();
    push('a');
    await clock.settle();
    const room = push('0123456789');
    const flushed = queue.flush();
    queue.close();
    await expect(flushed).rejects.toThrow('The queue is closed');
    expect(await isResolved(room)).toBe(true);
    await settle();
    push('b');
    await clock.settle();
    expect(texts(commits)).toEqual(['a']);
    expect(done).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects a flush whose commit has written nothing', async () => {
    const clock = new ManualClock();
    const committer: Committer<string, readonly string[], void> = {
      prepare: (items) => items,
      send: async () => {},
      sent: () => {
        queue.refuse();
        queue.close();
      },
      failed: () => {},
    };
    const queue: CommitQueue<string, readonly string[], void> = new CommitQueue(committer, clock, {
      bufferEvents: 3,
      bufferBytes: 10,
      commitDelayMs: 2,
    });
    queue.push('a', 1, true);
    const flushed = queue.flush();
    flushed.catch(() => {});
    await clock.settle();
    await expect(flushed).rejects.toThrow('The queue is closed');
  });
});
