import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/manual-clock.js';
import type { TaskEvent } from '../../model/stream-response.js';
import { EqualTimers } from '../../runtime/equal-timers.js';
import type { Claim } from '../../store/held-turn.js';
import type { Append, AppendOutcome } from '../../store/task-storage.js';
import type { LogRecord } from '../../task/log-record.js';
import { silentLogger } from '../../telemetry/logger.js';
import { DEFAULT_ENGINE_LIMITS } from '../engine-limits.js';
import type { EngineContext } from './engine-context.js';
import { TaskFeeds } from './task-feeds.js';
import { TurnWriter } from './turn-writer.js';

const scope = { agent: 'agent', tenant: '', owner: null };
const address = { taskId: 'task', contextId: 'context' };
const message = { ...address, messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'hi' }] };
const claim: Claim = {
  scope,
  task: { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_SUBMITTED' }, history: [message] },
  seq: 1,
  epoch: 7,
  turn: 1,
  attempt: 1,
  handOvers: 0,
  message,
  caller: { extensions: [], version: '1.0' },
  began: false,
};

const status = (state: 'TASK_STATE_WORKING' | 'TASK_STATE_COMPLETED', text: string): TaskEvent => ({
  statusUpdate: { ...address, status: { state, message: { ...message, role: 'ROLE_AGENT', parts: [{ text }] } } },
});
const chunk = (text: string): TaskEvent => ({
  artifactUpdate: { ...address, artifact: { artifactId: text, parts: [{ text }] }, lastChunk: true },
});

/** A writer over a storage that answers when the test says so. */
function stage({ isOpen = true }: { readonly isOpen?: boolean } = {}) {
  const clock = new ManualClock();
  const commits: (Append | 'release')[] = [];
  const failures: unknown[] = [];
  const ends: unknown[] = [];
  const shown: string[] = [];
  let answer: PromiseWithResolvers<AppendOutcome> = Promise.withResolvers();
  const askCommit = (commit: Append | 'release') => {
    commits.push(commit);
    answer = Promise.withResolvers();
    return answer.promise;
  };
  const feeds = new TaskFeeds();
  feeds.attach({
    key: { scope, id: 'task' },
    started: true,
    offer: (records) => void shown.push(...records.map(textOf)),
    look() {},
    shutDown() {},
  });
  const timers = new EqualTimers(clock, 1_000);
  const context = {
    clock,
    feeds,
    storage: { append: askCommit, release: () => askCommit('release') },
    patience: timers,
    heldChunks: timers,
    artifactEnd: 'auto',
    limits: { ...DEFAULT_ENGINE_LIMITS, bufferEvents: 3, bufferBytes: 3_000, commitDelayMs: 2 },
    logger: { ...silentLogger, error: (_text: string, fields: unknown) => void failures.push(fields) },
  } as unknown as EngineContext;
  const turn = {
    ...address,
    scope,
    message,
    cancelMetadata: undefined,
    trace: undefined,
    counted: undefined,
    advance: (end: string, result?: { readonly waiting: number }) => void ends.push([end, result?.waiting]),
  };
  const writer = new TurnWriter(context, turn);
  if (isOpen) writer.open(claim);
  const settle = async (outcome: AppendOutcome | Error = { kind: 'appended', waiting: 0 }) => {
    if (outcome instanceof Error) answer.reject(outcome);
    else answer.resolve(outcome);
    await clock.settle();
  };
  const push = (text: string) => writer.append(status('TASK_STATE_WORKING', text));
  return { clock, writer, commits, failures, ends, shown, push, settle };
}

function textOf({ event }: LogRecord): string {
  if (event.artifactUpdate !== undefined) return event.artifactUpdate.artifact.artifactId;
  const [part] = event.statusUpdate !== undefined ? (event.statusUpdate.status.message?.parts ?? []) : [];
  return part && part.text !== undefined ? part.text.slice(0, 1) : '';
}

/** Resolves to true if a promise has settled. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await Promise.resolve();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

const texts = (commits: readonly (Append | 'release')[]) =>
  commits.map((commit) => (commit === 'release' ? commit : commit.records.map(textOf).join(' ')));

describe('the writer of a turn', () => {
  it('writes a chunk that no other event follows, also one that came before the claim', async () => {
    const { clock, writer, commits } = stage({ isOpen: false });
    writer.append({ artifactUpdate: { ...address, artifact: { artifactId: 'a', parts: [{ text: 'a' }] } } });
    writer.open(claim);
    await clock.advance(5_000);
    expect(texts(commits)).toEqual(['a']);
  });

  it('keeps one commit under way, groups what comes meanwhile, and shows records after their commit', async () => {
    const { clock, commits, shown, push, settle } = stage();
    push('a');
    await clock.settle();
    push('b');
    push('c');
    await clock.settle();
    expect(texts(commits)).toEqual(['a']);
    expect(shown).toEqual([]);
    await settle();
    expect(texts(commits)).toEqual(['a', 'b c']);
    expect(shown).toEqual(['a']);
  });

  it('lets a chunk wait for more to come, until a status comes or the delay is over', async () => {
    const { clock, commits, writer, push, settle } = stage();
    writer.append(chunk('a'));
    await clock.settle();
    expect(commits).toEqual([]);
    push('b');
    await clock.settle();
    await settle();
    writer.append(chunk('c'));
    await clock.advance(2);
    expect(texts(commits)).toEqual(['a b', 'c']);
  });

  it.each([
    ['events', ['a', 'b', 'c']],
    ['bytes', ['d'.repeat(3_000)]],
  ])('that is full of %s makes the agent wait until there is room', async (_name, items) => {
    const { clock, commits, push, settle } = stage();
    push('x');
    await clock.settle();
    const rooms = items.map(push);
    const last = rooms.at(-1) ?? Promise.resolve();
    expect(await isResolved(last)).toBe(false);
    await settle();
    expect(texts(commits).at(-1)).toBe(items.map((item) => item.slice(0, 1)).join(' '));
    if (items.length === 1) await settle();
    expect(await isResolved(last)).toBe(true);
  });

  it('sends the same commit again if it failed, later each time, and nothing else before it', async () => {
    const { clock, commits, failures, push, settle } = stage();
    push('a');
    await clock.settle();
    push('b');
    for (const [index, waitMs] of [50, 200, 1_000, 5_000, 5_000].entries()) {
      await settle(new Error('The disk is full'));
      expect(failures.at(-1)).toMatchObject({ attempt: index + 1, waitMs });
      await clock.advance(waitMs);
    }
    expect(new Set(commits).size).toBe(1);
    await settle();
    expect(texts(commits).at(-1)).toBe('b');
  });

  it('resolves a flush when all events before it are committed', async () => {
    const { clock, writer, push, settle } = stage();
    expect(await isResolved(writer.flush())).toBe(true);
    push('a');
    const flushed = writer.flush();
    await clock.settle();
    push('b');
    const both = writer.flush();
    expect(await isResolved(flushed)).toBe(false);
    await settle();
    expect(await isResolved(flushed)).toBe(true);
    expect(await isResolved(both)).toBe(false);
    await settle();
    expect(await isResolved(both)).toBe(true);
  });

  it('that is finished makes one last commit, also without records, and tells the end once', async () => {
    const { clock, commits, ends, writer, push, settle } = stage();
    push('a');
    await clock.settle();
    writer.finish();
    await settle();
    expect(texts(commits)).toEqual(['a', 'release']);
    expect(ends).toEqual([]);
    await settle({ kind: 'appended', waiting: 2 });
    expect(ends).toEqual([['left', 2]]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends with the commit of a final state', async () => {
    const { clock, commits, ends, writer, settle } = stage();
    writer.append(status('TASK_STATE_COMPLETED', 'a'));
    writer.finish();
    await clock.settle();
    await settle({ kind: 'appended', waiting: 1 });
    expect(commits).toMatchObject([{ endsTurn: 1, authority: 7, after: 1 }]);
    expect(ends).toEqual([['left', 1]]);
    expect(await isResolved(writer.flush())).toBe(true);
    await expect(writer.append(chunk('b'))).rejects.toThrow('The turn is over');
  });

  it('before the claim lets the agent wait, and then writes its events in order', async () => {
    const { clock, commits, writer, push } = stage({ isOpen: false });
    const room = push('a');
    writer.append(chunk('b'));
    const flushed = writer.flush();
    await clock.settle();
    expect([await isResolved(room), await isResolved(flushed)]).toEqual([false, false]);
    expect(commits).toEqual([]);
    writer.open(claim);
    await clock.settle();
    expect(texts(commits)).toEqual(['a b']);
    expect([await isResolved(room), await isResolved(flushed)]).toEqual([true, false]);
  });

  it('that is closed before the claim refuses the events that waited for it', async () => {
    const { writer, push } = stage({ isOpen: false });
    const waiting = [push('a'), writer.flush()];
    writer.close();
    for (const each of [...waiting, writer.flush()]) await expect(each).rejects.toThrow('The turn is over');
  });

  it('that is closed drops what is not committed, and lets nobody wait', async () => {
    const { clock, commits, ends, shown, writer, push, settle } = stage();
    push('a');
    await clock.settle();
    const room = push('d'.repeat(3_000));
    const flushed = writer.flush();
    writer.close();
    await expect(flushed).rejects.toThrow('The turn is over');
    expect(await isResolved(room)).toBe(true);
    await settle();
    await expect(push('b')).rejects.toThrow('The turn is over');
    await clock.settle();
    expect(texts(commits)).toEqual(['a']);
    expect([ends, shown]).toEqual([[], []]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('whose commit is refused tells so, shows nothing, and rejects a flush', async () => {
    const { clock, ends, shown, writer, push, settle } = stage();
    push('a');
    const flushed = writer.flush();
    await clock.settle();
    const refused = expect(flushed).rejects.toThrow('The turn is over');
    await settle({ kind: 'fenced' });
    expect([ends, shown]).toEqual([[['fenced', undefined]], []]);
    writer.close();
    await refused;
    await expect(writer.flush()).rejects.toThrow('The turn is over');
  });
});
