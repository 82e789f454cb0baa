import { describe, expect, it } from 'vitest';
import { call, type Execute, engine, ids, Sent, send, tick, waitForAbort } from '../../test/engine.js';
import { ManualClock } from '../../test/manual-clock.js';
import type { UncaughtErrorScope, UncaughtErrors } from '../runtime/uncaught-errors.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import type { RequestContext } from './request-context.js';

const BROKEN = new Error('broken');

function errorsOf({ logger }: ReturnType<typeof engine>): readonly unknown[] {
  return logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields?.error);
}

describe('what an agent throws after its turn is over', () => {
  it.each<[string, Execute]>([
    [
      'at once',
      async (_context, events) => {
        void events.complete();
        throw BROKEN;
      },
    ],
    [
      'without a promise',
      (_context, events) => {
        void events.complete();
        throw BROKEN;
      },
    ],
    [
      'later',
      async (_context, events) => {
        await events.inputRequired();
        await events.flush();
        throw BROKEN;
      },
    ],
  ])('is logged once: %s', async (_when, execute) => {
    const world = engine(execute);
    const sent = send(world.handler);
    await world.clock.settle();
    expect(sent.task?.status.state).toMatch(/COMPLETED|INPUT_REQUIRED/);
    await world.clock.advance(60_000);
    expect(errorsOf(world)).toEqual([BROKEN]);
  });

  it('is logged once after the grace too, by an agent that went on', async () => {
    const clock = new ManualClock();
    const world = engine(
      async (_context, events) => {
        void events.complete();
        await tick(clock, 60_000);
        throw BROKEN;
      },
      { clock, storage: new MemoryStorage({ clock }) },
    );
    send(world.handler);
    await clock.advance(120_000);
    expect(errorsOf(world)).toEqual([BROKEN]);
  });

  it.each<[string, Execute]>([
    [
      'an event that is refused',
      async (_context, events) => {
        void events.complete();
        await events.working();
      },
    ],
    [
      'the reason it was stopped for',
      async (context) => {
        await waitForAbort(context);
        throw context.signal.reason;
      },
    ],
    [
      'an AbortError',
      async (context) => {
        await waitForAbort(context);
        throw new DOMException('stopped', 'AbortError');
      },
    ],
  ])('is no error if it is %s', async (_what, execute) => {
    const world = engine(execute);
    send(world.handler);
    await world.clock.settle();
    const [id = ''] = await ids(world.handler);
    const canceled = new Sent(world.handler.cancelTask({ id }, call()));
    await world.clock.advance(10_000);
    expect(canceled.settled).toBe(true);
    expect(errorsOf(world)).toEqual([]);
  });
});

describe('a checkpoint that cannot be saved', () => {
  /** A host that assigns uncaught errors to their agent. */
  class Host implements UncaughtErrors {
    #scope: UncaughtErrorScope | undefined;
    run<T>(scope: UncaughtErrorScope, task: () => T): T {
      this.#scope = scope;
      return task();
    }
    uncaught(error: unknown): void {
      this.#scope?.uncaught(error);
    }
  }

  const storageFails = (save: (context: RequestContext) => unknown) => {
    const memory = new MemoryStorage({ clock: new ManualClock() });
    memory.saveCheckpoint = () => Promise.reject(new Error('The value cannot be kept'));
    const uncaughtErrors = new Host();
    const world = engine(
      async (context, events) => {
        await save(context);
        await events.complete();
      },
      { storage: memory, uncaughtErrors },
    );
    return { ...world, uncaughtErrors };
  };

  it.each<[string, (context: RequestContext) => unknown]>([
    ['nobody waits for', (context) => void context.saveCheckpoint(1)],
    ['the agent catches', (context) => context.saveCheckpoint(1).catch(() => {})],
  ])('that %s fails neither its task nor the process', async (_how, save) => {
    const world = storageFails(save);
    const sent = send(world.handler);
    await world.clock.settle();
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(world.logger.lines.filter(({ message }) => message === 'a checkpoint was not saved').length).toBeLessThan(2);
  });

  it('is told to the log once, and to no task, if its promise is forgotten in another one', async () => {
    const reasons: unknown[] = [];
    const world = storageFails(async (context) => {
      // The event by which a host reports a forgotten promise.
      await context.saveCheckpoint(1).then(undefined, (error: unknown) => {
        reasons.push(error);
        world.uncaughtErrors.uncaught(error);
      });
    });
    const sent = send(world.handler);
    await world.clock.settle();
    expect(reasons).toHaveLength(1);
    expect(sent.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(errorsOf(world)).toEqual(reasons);
  });
});
