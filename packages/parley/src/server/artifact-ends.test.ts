import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, idOf, message, Seen, tick } from '../../test/engine.js';
import type { ManualClock } from '../../test/manual-clock.js';
import type { TaskArtifactUpdateEvent } from '../model/stream-response.js';
import type { Task } from '../model/task.js';
import { type ArtifactEnd, withWholeEnds } from '../task/artifact-end.js';
import { LogRecord } from '../task/log-record.js';
import type { StreamItem } from '../task/stream-item.js';
import { TaskBuilder } from '../task/task-builder.js';
import { agent } from './agent.js';
import type { AgentExecutor } from './agent-executor.js';
import type { EventQueue } from './event-queue.js';

type Play = (events: EventQueue, clock: ManualClock, signal: AbortSignal) => Promise<unknown>;

/** The updates of a stream: `+` for one that appends, `!` for the last one. */
function updatesOf(items: readonly StreamItem[]): string[] {
  return items.flatMap(({ event }) => (event.artifactUpdate !== undefined ? [short(event.artifactUpdate)] : []));
}

function short({ artifact, append, lastChunk }: TaskArtifactUpdateEvent): string {
  const content = artifact.parts.map((part) => (part.text !== undefined ? part.text : '#')).join('|');
  return `${artifact.artifactId}${append === true ? '+' : ''}${lastChunk === true ? '!' : ''} ${content}`;
}

/** Runs an agent to its end. Both streams show the same turn. */
async function run(play: Play | AgentExecutor, form?: ArtifactEnd) {
  let clock: ManualClock | undefined;
  const execute: Execute = async (context, events) => {
    if (clock) await (play as Play)(events, clock, context.signal);
  };
  const world = engine(typeof play === 'function' ? { execute } : play, form && { artifactEnd: form });
  clock = world.clock;
  const { handler } = world;
  const plain = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
  await clock.settle();
  const id = idOf(plain);
  const whole = new Seen(withWholeEnds(handler.subscribeToTask({ id }, call({ lastEventId: '0' }))));
  await clock.advance(20_000);
  const task = await handler.getTask({ id }, call());
  return { ...world, updates: updatesOf(plain.items), wholes: updatesOf(whole.items), plain, whole, task, id };
}

/** The task as a client folds it from a stream. */
function foldStream(items: readonly StreamItem[]): Task {
  const [first, ...rest] = items;
  if (first === undefined || first.event.task === undefined) throw new Error('The stream does not begin with the task');
  const events = rest.flatMap(({ event }) => (event.message !== undefined ? [] : [event]));
  return TaskBuilder.fold(
    first.event.task,
    events.map((event, at) => new LogRecord(at + 2, 1, event)),
  );
}

const piecewise = (pieces: readonly string[]) =>
  agent(async function* () {
    yield* pieces;
  });

describe('whatever is whole says so', () => {
  it('a plain answer, and an answer of one piece', async () => {
    const parts = { updates: [expect.stringMatching(/^\S+! whole$/)] };
    expect(await run(agent(() => 'whole'))).toMatchObject(parts);
    expect(await run(piecewise(['whole']))).toMatchObject(parts);
    expect(await run(agent(() => [{ text: 'a' }, { data: 1 }]))).toMatchObject({
      updates: [expect.stringMatching(/^\S+! a\|#$/)],
    });
  });

  it.each<[string, Play, string[]]>([
    ['before a status', async (e) => [await e.artifact('x', { artifactId: 'a' }), e.working(), e.complete()], ['a! x']],
    [
      'before another artifact',
      async (e) => [
        await e.artifact('x', { artifactId: 'a' }),
        await e.artifact('y', { artifactId: 'b' }),
        e.complete(),
      ],
      ['a! x', 'b! y'],
    ],
    ['before a failure', async (e) => [await e.artifact('x', { artifactId: 'a' }), e.fail('no')], ['a! x']],
    ['before a question', async (e) => [await e.artifact('x', { artifactId: 'a' }), e.inputRequired('?')], ['a! x']],
    [
      'before a pause, if it is no text',
      async (e, clock) => [
        await e.artifact({ data: 1 }, { artifactId: 'a' }),
        await tick(clock, 5_000),
        await e.complete(),
      ],
      ['a! #'],
    ],
    [
      'in its own form',
      async (e) => [
        await e.publish({ artifactUpdate: { artifact: { artifactId: 'a', parts: [{ text: 'x' }] } } }),
        e.complete(),
      ],
      ['a! x'],
    ],
    [
      'if the agent says so, at once',
      async (e, clock) => [
        await e.artifact('x', { artifactId: 'a', lastChunk: true }),
        await tick(clock, 5_000),
        await e.complete(),
      ],
      ['a! x'],
    ],
  ])('an artifact %s', async (_where, play, updates) => {
    expect(await run(play)).toMatchObject({ updates, wholes: updates });
  });
});

describe('chunks', () => {
  it('end with the last of them, or with the whole artifact', async () => {
    const { updates, wholes, task } = await run(piecewise(['One ', 'two ', 'three']));
    const id = task.artifacts?.[0]?.artifactId ?? '';
    expect(updates).toEqual([`${id} One `, `${id}+ two `, `${id}+! three`]);
    expect(wholes).toEqual([`${id} One `, `${id}+ two `, `${id}! One two three`]);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'One two three' }]);
  });

  it('wait for the next event, and 100 ms at most', async () => {
    const { handler, clock } = engine({
      async execute(_context, events) {
        await events.artifact('1', { artifactId: 'a' });
        await tick(clock, 90);
        await events.append('a', '2');
        await tick(clock, 1_000);
      },
    });
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.advance(89);
    expect(updatesOf(seen.items)).toEqual([]);
    await clock.advance(10);
    expect(updatesOf(seen.items)).toEqual(['a 1']);
    await clock.advance(60);
    expect(updatesOf(seen.items)).toEqual(['a 1']);
    await clock.advance(40);
    expect(updatesOf(seen.items)).toEqual(['a 1', 'a+ 2']);
  });

  it('wait no longer if the agent began before its task was stored', async () => {
    const { handler, clock } = engine({
      replies: 'either',
      async execute(_context, events) {
        await events.artifact('1', { artifactId: 'a' });
        await tick(clock, 1_000);
      },
    });
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.advance(200);
    expect(updatesOf(seen.items)).toEqual(['a 1']);
  });

  const appendWithPauses: Play = async (events, clock) => {
    await events.artifact('One ', { artifactId: 'a', name: 'n' });
    await events.append('a', 'two');
    await tick(clock, 5_000);
    await events.complete();
  };

  it('that are all shown before the end are repeated as a whole', async () => {
    const { updates, wholes, task } = await run(appendWithPauses);
    expect(updates).toEqual(['a One ', 'a+ two', 'a! One two']);
    expect(wholes).toEqual(updates);
    expect(task.artifacts).toEqual([{ artifactId: 'a', name: 'n', parts: [{ text: 'One two' }] }]);
  });

  it('are not repeated if the agent or the operator says so', async () => {
    const updates = ['a One ', 'a+ two', 'a+! '];
    expect((await run(appendWithPauses, 'chunk')).updates).toEqual(updates);
    const { handler, clock }: ReturnType<typeof engine> = engine({
      artifactEnd: 'chunk',
      execute: async ({ signal }, events) => void (await appendWithPauses(events, clock, signal)),
    });
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.advance(20_000);
    expect(updatesOf(seen.items)).toEqual(updates);
  });

  it('are not repeated if they are large', async () => {
    const large = 'x'.repeat(200_000);
    const { updates, wholes } = await run(async (events, clock) => {
      await events.artifact(large, { artifactId: 'a' });
      await events.append('a', large);
      await tick(clock, 5_000);
      await events.append('b', 'y');
      await events.append('a', 'z');
      await events.complete();
    });
    const shortenTexts = (all: readonly string[]) => all.map((update) => update.replaceAll(large, 'large'));
    expect(shortenTexts(updates)).toEqual(['a large', 'a+ large', 'b! y', 'a+! z']);
    expect(shortenTexts(wholes)).toEqual(shortenTexts(updates));
  });

  it('that hold no text are not repeated', async () => {
    const { updates } = await run(async (events, clock) => {
      await events.artifact({ data: 1 }, { artifactId: 'a', lastChunk: false });
      await events.append('a', { data: 2 }, { lastChunk: false });
      await tick(clock, 5_000);
      await events.complete();
    });
    expect(updates).toEqual(['a #', 'a+ #']);
  });

  it.each<[string, Play]>([
    ['a status', (events) => events.working()],
    ['a flush', (events) => events.flush()],
  ])('go out before %s, and the next one is the last', async (_what, between) => {
    const { updates } = await run(async (events, clock, signal) => {
      await events.artifact('1', { artifactId: 'a' });
      await events.append('a', '2');
      await between(events, clock, signal);
      await events.append('a', '3');
      await events.complete();
    });
    expect(updates).toEqual(['a 1', 'a+ 2', 'a+! 3']);
  });

  it('go out before a throw, without a mark: the artifact is not complete', async () => {
    const { updates, task } = await run(async (events) => {
      await events.artifact('1', { artifactId: 'a' });
      await events.append('a', '2');
      throw new Error('broken');
    });
    expect(updates).toEqual(['a 1', 'a+ 2']);
    expect(task.status.state).toBe('TASK_STATE_FAILED');
  });

  it('go out before a cancel, also a forced one', async () => {
    const { handler, clock } = engine({
      async execute(context, events) {
        await events.artifact('1', { artifactId: 'a' });
        await events.append('a', '2');
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        await events.append('a', '3');
        await new Promise(() => {});
      },
    });
    const seen = new Seen(handler.sendStreamingMessage({ message: message() }, call()));
    await clock.advance(10);
    const canceled = handler.cancelTask({ id: idOf(seen) }, call());
    await clock.advance(10_000);
    expect((await canceled).artifacts?.[0]?.parts).toEqual([{ text: '123' }]);
    expect(seen.shown.at(-1)).toBe('CANCELED');
    expect(updatesOf(seen.items)).toEqual(['a 1', 'a+ 2', 'a+ 3']);
  });

  it('of a tool that are whole are no end of the answer', async () => {
    const { updates } = await run(async (events) => {
      await events.artifact('1', { artifactId: 'a', lastChunk: false });
      await events.artifact({ data: 1 }, { artifactId: 'calls', lastChunk: false });
      await events.append('a', '2', { lastChunk: false });
      await events.append('calls', { data: 2 }, { lastChunk: false });
      await events.complete();
    });
    expect(updates).toEqual(['a 1', 'calls #', 'a+ 2', 'calls+ #', 'a! 12']);
  });

  it('that only end an artifact give their mark and their description to the one before', async () => {
    const closing = { lastChunk: true, metadata: { tokens: 3 } };
    const { plain, updates, task } = await run(async (events) => {
      await events.artifact('1', { artifactId: 'a' });
      await events.append('a', '2');
      await events.append('a', '', closing);
      await events.complete();
    });
    expect(updates).toEqual(['a 1', 'a+! 2']);
    expect(plain.items.at(-2)?.event).toMatchObject({ artifactUpdate: { artifact: { metadata: { tokens: 3 } } } });
    expect(task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: '12' }], metadata: { tokens: 3 } }]);
    const late = await run(async (events, clock) => {
      await events.artifact('1', { artifactId: 'a' });
      await tick(clock, 5_000);
      await events.append('a', '', closing);
      await events.complete();
    });
    expect(late.updates).toEqual(['a 1', 'a! 1']);
    expect(late.task.artifacts).toEqual([{ artifactId: 'a', parts: [{ text: '1' }], metadata: { tokens: 3 } }]);
    const slow = await run(async (events, clock) => {
      await events.artifact('1', { artifactId: 'a' });
      await tick(clock, 5_000);
      await events.append('a', '2');
      await events.append('a', '', closing);
      await events.complete();
    });
    expect(slow.updates).toEqual(['a 1', 'a+! 2']);
    const again = await run(async (events) => {
      await events.artifact('1', { artifactId: 'a', lastChunk: true });
      await events.working();
      await events.append('a', '', closing);
      await events.complete();
    });
    expect(again.updates).toEqual(['a! 1', 'a+! ']);
    expect(again.task.artifacts).toMatchObject([{ artifactId: 'a', metadata: { tokens: 3 } }]);
  });

  it('of an artifact whose extension may count them are neither joined nor added', async () => {
    const { updates, wholes, task } = await run(async (events, clock) => {
      await events.artifact('1', { artifactId: 'a', extensions: ['urn:e'] });
      await events.append('a', '2');
      await tick(clock, 5_000);
      await events.complete();
    });
    expect(updates).toEqual(['a 1', 'a+ 2', 'a! 1|2']);
    expect(wholes).toEqual(updates);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: '1' }, { text: '2' }]);
  });

  it('do not append to an artifact that is not there', async () => {
    const { plain } = await run(async (events) => {
      await events.append('a', '1');
      await events.complete();
    });
    expect(plain.items[2]?.event).toMatchObject({ artifactUpdate: { lastChunk: true } });
    expect(plain.items[2]?.event).not.toHaveProperty('artifactUpdate.append');
  });
});

describe('for any agent', () => {
  const id = fc.constantFrom('a', 'b');
  const text = fc.string({ maxLength: 3 });
  const step: fc.Arbitrary<readonly [text: string, play: Play]> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(id, text).map(([a, t]) => [`+${a}${t}`, (e: EventQueue) => e.append(a, t)] as const),
    },
    fc.tuple(id, text).map(([a, t]) => [`=${a}${t}`, (e: EventQueue) => e.artifact(t, { artifactId: a })] as const),
    fc.tuple(id, text).map(([a, t]) => [`?${a}${t}`, (e: EventQueue) => e.append(a, t, { lastChunk: false })] as const),
    id.map((a) => [`!${a}`, (e: EventQueue) => e.append(a, '', { lastChunk: true })] as const),
    id.map((a) => [`#${a}`, (e: EventQueue) => e.append(a, { data: 1 })] as const),
    fc.constant(['status', (e: EventQueue) => e.working()] as const),
    fc
      .constantFrom(20, 99, 101, 500)
      .map((ms) => [`${ms} ms`, (_: EventQueue, clock: ManualClock) => tick(clock, ms)] as const),
  );

  it('the fold of the stream, of its replay and of its other form is the stored task, and each text has an end', async () => {
    const ends = fc.constantFrom<Play>(
      (e) => e.complete(),
      (e) => e.inputRequired('?'),
      (e) => e.fail(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        ends,
        fc.constantFrom<ArtifactEnd>('auto', 'chunk', 'whole'),
        async (steps, end, form) => {
          const { plain, whole, task } = await run(async (events, clock, signal) => {
            for (const [, play] of steps) await play(events, clock, signal);
            await end(events, clock, signal);
          }, form);
          const { artifacts } = task;
          expect(foldStream(plain.items).artifacts).toEqual(artifacts);
          expect(foldStream(whole.items).artifacts).toEqual(artifacts);
          expect(whole.seqs.slice(1)).toEqual(plain.seqs.slice(1));
          if (task.status.state === 'TASK_STATE_FAILED') return;
          for (const { artifactId, parts } of artifacts ?? []) {
            const own = plain.items.filter(
              ({ event }) =>
                event.artifactUpdate !== undefined && event.artifactUpdate.artifact.artifactId === artifactId,
            );
            if (parts.some((part) => part.text !== undefined)) {
              expect(own.at(-1)?.event).toHaveProperty('artifactUpdate.lastChunk', true);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
