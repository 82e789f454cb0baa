import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_NAMES, type OperationName } from '../../packages/parley/src/operations/operations.js';
import { interceptedStorage, type StorageCall } from '../../packages/parley/src/store/intercepted-storage.js';
import type { Scope } from '../../packages/parley/src/store/task-key.js';
import type { Acceptance, TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { type ComparisonBounds, isWithin, ratiosOf } from '../support/compared-times.js';
import { NAMING, type NamedPlace, type NamedTask, type Naming, newUserMessage } from '../support/naming-requests.js';
import { ownersWorld, type Way } from '../support/owners-world.js';

const OWNER = { user: 'ann' };
const OTHER = { user: 'bob' };
const TASKS = 20;
/** A large task: code that reads it before it looks at the owner takes longer. */
const FILLER = 'x'.repeat(200_000);
const BOUNDS: ComparisonBounds = process.env.TEST_LONG
  ? { leastCalls: 2_000, mostCalls: 4_000, rounds: 8 }
  : { leastCalls: 40, mostCalls: 120, rounds: 6 };
const LONG_MS = process.env.TEST_LONG ? 1_200_000 : 600_000;

/** A leak shows in each round. */
const FEW_ROUNDS: ComparisonBounds = { leastCalls: 40, mostCalls: 400, rounds: 3 };

/** The request of one operation that names something of another caller in one place. */
interface NamingCall {
  readonly operation: OperationName;
  readonly place: NamedPlace;
  readonly naming: Naming;
}

const CALLS: readonly NamingCall[] = OPERATION_NAMES.flatMap((operation) =>
  Object.entries(NAMING[operation]).map(([place, naming]) => ({ operation, place: place as NamedPlace, naming })),
);

/** A world with large tasks of a caller, which have a webhook each, and ids beside them that no task has. */
async function worldOn(storage: TaskStorage) {
  const world = await ownersWorld(storage);
  const [way] = world.ways;
  if (way === undefined) throw new Error('There is a way');
  const owned: NamedTask[] = [];
  for (let at = 0; at < TASKS; at += 1) {
    const { text } = await way.call(OWNER, 'sendMessage', { message: newUserMessage('ask', { metadata: { FILLER } }) });
    const { task } = JSON.parse(text).result;
    await way.call(OWNER, 'createTaskPushNotificationConfig', {
      taskId: task.id,
      id: 'c1',
      url: 'https://hooks.example/a',
    });
    owned.push({ id: task.id, contextId: task.contextId });
  }
  const besides = owned.map(({ id, contextId }) => ({ id: beside(id), contextId: beside(contextId) }));
  return { ...world, way, owned, besides };
}

type World = Awaited<ReturnType<typeof worldOn>>;

/** An id that no task has, next to an id in the indexes of a storage. */
function beside(id: string): string {
  return `${id.slice(0, -6)}${randomUUID().slice(0, 6)}`;
}

/** The ratios of the times of calls about tasks of another caller to those about missing ones. */
function ratiosFor({ owned, besides }: World, way: Way, { operation, place, naming }: NamingCall, bounds = BOUNDS) {
  const measureCall = async (named: NamedTask | undefined) => {
    if (named === undefined) throw new Error('There are tasks');
    return (await way.call(OTHER, operation, naming(named) as never)).ms;
  };
  const foreign = (at: number) => measureCall(owned[at % TASKS]);
  const measureMissing = (at: number) => {
    const named = besides[at % TASKS];
    // Messages make a context the caller's own. So as many contexts have as many messages on both sides.
    return measureCall(place === 'context' || named === undefined ? named : { ...named, id: beside(named.id) });
  };
  return ratiosOf(foreign, measureMissing, bounds);
}

/** Reads the tasks of all callers before it answers, so that the time of an answer tells about tasks of others. */
function leaky(storage: TaskStorage): TaskStorage {
  const first = async (scope: Scope, id: string) => {
    const owned = { ...scope, owner: `test|${OWNER.user}` };
    JSON.stringify(structuredClone(await storage.task(owned, id)));
  };
  return interceptedStorage(storage, async (call, args, run) => {
    const looked = lookedAt(call, args);
    if (looked !== undefined) await first(looked.scope, looked.id);
    return run();
  });
}

type Looked = { readonly scope: Scope; readonly id: string } | undefined;

/** The task that a call of a storage names. */
function lookedAt(name: StorageCall, [given, about]: readonly unknown[]): Looked {
  if (LOOKING.has(name)) return { scope: given as Scope, id: String(about) };
  if (name === 'push.putConfig') return { scope: given as Scope, id: (about as { taskId: string }).taskId };
  if (name !== 'accept') return undefined;
  const { scope, task } = given as Acceptance;
  return 'id' in task ? { scope, id: task.id } : undefined;
}

const LOOKING: ReadonlySet<StorageCall> = new Set([
  'task',
  'requestCancel',
  'push.config',
  'push.configs',
  'push.deleteConfig',
]);

/** The way that is tried where each call takes long. The ways differ in front of the storage only. */
const ONE_WAY = 'JSON-RPC 1.0';

/**
 * The suite on one storage: no time tells if a task, a context or a webhook of another caller exists. `isSlow`: all
 * ways are tried in the long form only.
 */
export function ownerTimes(
  name: string,
  open: () => Promise<TaskStorage> | TaskStorage,
  { isSlow = false }: { readonly isSlow?: boolean } = {},
): void {
  const isFew = isSlow && process.env.TEST_LONG === undefined;
  const isTried = (way: Way) => !isFew || way.name === ONE_WAY;
  /** All leaks on one way, and one of them on every way; where few ways are tried, that one alone. */
  const isLeakTried = (way: Way, operation: OperationName) =>
    way.has(operation) &&
    (process.env.TEST_LONG !== undefined || operation === 'getTask' || (!isFew && way.name === ONE_WAY));
  describe(`times of answers on ${name} (Spec §13.1)`, () => {
    let storage: TaskStorage;
    let world: World;
    beforeAll(async () => {
      storage = await open();
      world = await worldOn(storage);
    }, LONG_MS);
    afterAll(async () => {
      await world[Symbol.asyncDispose]();
      await storage.close();
    });

    it(
      'every operation in every version answers about something of another caller in the time of a missing one',
      async () => {
        let compared = 0;
        const different: string[] = [];
        for (const way of world.ways.filter(isTried)) {
          for (const call of CALLS.filter(({ operation }) => way.has(operation))) {
            const ratios = await ratiosFor(world, way, call);
            compared += 1;
            if (ratios.some(isWithin)) continue;
            const told = ratios.map((ratio) => ratio.toFixed(2)).join(', ');
            different.push(`${way.name} ${call.operation}, ${call.place}: ${told}`);
          }
        }
        expect(different).toEqual([]);
        expect(compared).toBeGreaterThan(isFew ? 12 : 130);
      },
      LONG_MS,
    );

    it(
      'a handler that reads a task before it looks at its owner is found out on every way',
      async () => {
        const found = await worldOn(leaky(storage));
        const kept: string[] = [];
        for (const way of found.ways.filter(isTried)) {
          for (const call of CALLS.filter(({ operation, place }) => place === 'task' && isLeakTried(way, operation))) {
            if ((await ratiosFor(found, way, call, FEW_ROUNDS)).some(isWithin))
              kept.push(`${way.name} ${call.operation}`);
          }
        }
        await found[Symbol.asyncDispose]();
        expect(kept).toEqual([]);
      },
      LONG_MS,
    );
  });
}
