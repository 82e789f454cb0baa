import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { OPERATION_NAMES } from '../../packages/parley/src/operations/operations.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import { NAMING, newUserMessage } from '../support/naming-requests.js';
import { type Caller, type Heard, ownersWorld, type Way, withoutIds } from '../support/owners-world.js';

/** Pairs of callers that must not see each other's tasks. The second one asks for what the first one owns. */
const CROSSINGS: readonly { readonly name: string; readonly owner: Caller; readonly other: Caller }[] = [
  { name: 'another user', owner: { user: 'ann' }, other: { user: 'bob' } },
  { name: 'an anonymous caller', owner: { user: 'ann' }, other: { user: '' } },
  { name: 'a user, about an anonymous task', owner: { user: '' }, other: { user: 'ann' } },
  {
    name: 'the same user in another tenant',
    owner: { user: 'ann', tenant: 'north' },
    other: { user: 'ann', tenant: 'south' },
  },
  { name: 'the same user without a tenant', owner: { user: 'ann', tenant: 'north' }, other: { user: 'ann' } },
  {
    name: 'another user in the same tenant',
    owner: { user: 'ann', tenant: 'north' },
    other: { user: 'bob', tenant: 'north' },
  },
  {
    name: 'a user who may not name the tenant',
    owner: { user: 'ann', tenant: 'north' },
    other: { user: 'eve', tenant: 'north' },
  },
];

/** A call about a task of another caller, beside the same call about a missing one. */
interface ComparedCall {
  readonly name: string;
  /** True if the answers tell the two apart, or the call about the missing task is not refused. */
  readonly tells: boolean;
}

/** Calls every operation on every way about tasks that are not the caller's. */
async function comparedCalls(
  ways: readonly Way[],
  caller: Caller,
  ids: readonly string[],
): Promise<readonly ComparedCall[]> {
  const compared: ComparedCall[] = [];
  for (const way of ways) {
    for (const operation of OPERATION_NAMES) {
      const about = NAMING[operation].task;
      if (about === undefined || !way.has(operation)) continue;
      for (const id of ids) {
        const missing = randomUUID();
        for (const headers of operation === 'subscribeToTask' ? [{}, { 'last-event-id': '1' }] : [{}]) {
          const call = (named: string) =>
            way.call(caller, operation, about({ id: named, contextId: '' }) as never, headers);
          const unknown = await call(missing);
          const foreign = await call(id);
          const isSame = isDeepStrictEqual(withoutIds(foreign, id), withoutIds(unknown, missing));
          compared.push({ name: `${way.name} ${operation}`, tells: !isSame || !isRefused(unknown) });
        }
      }
    }
  }
  return compared;
}

function isRefused({ status, text }: Heard): boolean {
  return status >= 400 || /"error":/.test(text);
}

/** A storage, or a part of one, that takes every caller for one user. */
function leakOwners<Part extends object>(part: Part, caller: Caller): Part {
  const addOwner = (given: unknown): unknown => {
    if (Array.isArray(given)) return given.map(addOwner);
    if (typeof given !== 'object' || given === null) return given;
    if ('owner' in given) return { ...given, owner: `test|${caller.user}` };
    return 'scope' in given ? { ...given, scope: addOwner(given.scope) } : given;
  };
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'keys' || name === 'push') return leakOwners(value as object, caller);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => Reflect.apply(value, target, args.map(addOwner)) as unknown;
    },
  });
}

/** Everything that two callers may not see of each other, over all bindings on a storage. */
export function owners(store: string, open: () => Promise<TaskStorage> | TaskStorage): void {
  describe(`ownership on ${store} (Spec §13.1)`, () => {
    let storage: TaskStorage;
    let world: Awaited<ReturnType<typeof ownersWorld>>;
    beforeAll(async () => {
      storage = await open();
      world = await ownersWorld(storage);
    });
    afterAll(async () => {
      await world[Symbol.asyncDispose]();
      await storage.close();
    });

    /** Ways on which both callers of a crossing can call. */
    const waysFor = ({ owner, other }: { owner: Caller; other: Caller }) =>
      world.ways.filter(({ hasTenants }) => hasTenants || (owner.tenant ?? other.tenant) === undefined);

    const first = (): Way => {
      const [way] = world.ways;
      if (way === undefined) throw new Error('There is a way');
      return way;
    };

    /** A task of a caller, by its id, with its context. */
    async function taskOf(owner: Caller, text: string, over: object = {}): Promise<{ id: string; contextId: string }> {
      const { text: answer } = await first().call(owner, 'sendMessage', { message: newUserMessage(text, over) });
      const { result } = JSON.parse(answer);
      if (result?.task === undefined) throw new Error(answer);
      return result.task;
    }

    const read = async (owner: Caller, id: string) => (await first().call(owner, 'getTask', { id })).text;

    it.each(CROSSINGS)(
      'answers $name on every operation of every binding as if the task were missing',
      async (crossing) => {
        const { owner, other } = crossing;
        const tasks = [await taskOf(owner, 'ask'), await taskOf(owner, 'done')];
        const [asks] = tasks;
        // The other caller asks for a webhook that is there.
        const webhook = { taskId: asks?.id ?? '', id: 'c1', url: 'https://hooks.example/a' };
        expect(isRefused(await first().call(owner, 'createTaskPushNotificationConfig', webhook))).toBe(false);
        const before = await Promise.all(tasks.map(({ id }) => read(owner, id)));
        for (const way of waysFor(crossing)) {
          // A way that refuses every call would show nothing.
          if (!way.has('getTask')) continue;
          for (const { id } of tasks) expect((await way.call(owner, 'getTask', { id })).text, way.name).toContain(id);
        }
        const compared = await comparedCalls(
          waysFor(crossing),
          other,
          tasks.map(({ id }) => id),
        );
        expect(compared.filter(({ tells }) => tells).map(({ name }) => name)).toEqual([]);
        expect(compared.length).toBeGreaterThan(20);
        expect(await Promise.all(tasks.map(({ id }) => read(owner, id)))).toEqual(before);
        const kept = await first().call(owner, 'listTaskPushNotificationConfigs', { taskId: webhook.taskId });
        expect(kept.text).toContain(webhook.url);
      },
    );

    it('finds a server that leaks the tasks of another caller, by every operation of every binding', async () => {
      const [owner, other] = [{ user: 'ann' }, { user: 'bob' }];
      const { id } = await taskOf(owner, 'done');
      const leaks = await ownersWorld(leakOwners(storage, owner));
      onTestFinished(() => leaks[Symbol.asyncDispose]());
      for (const way of leaks.ways.filter((one) => one.has('getTask'))) {
        expect((await way.call(other, 'getTask', { id })).text, way.name).toContain(id);
      }
      const compared = await comparedCalls(leaks.ways, other, [id]);
      expect(compared.filter(({ tells }) => !tells).map(({ name }) => name)).toEqual([]);
      expect(compared.length).toBeGreaterThan(80);
    });

    const trusted = CROSSINGS.filter(({ other }) => other.user !== 'eve');

    it.each(trusted)('gives $name a context and references of its own', async (crossing) => {
      const { owner, other } = crossing;
      const { id, contextId } = await taskOf(owner, 'done');
      for (const way of waysFor(crossing)) {
        if (!way.has('sendMessage')) continue;
        const over = (foreign: boolean) => ({
          contextId: foreign ? contextId : randomUUID(),
          referenceTaskIds: [foreign ? id : randomUUID()],
        });
        const fresh = await way.call(other, 'sendMessage', { message: newUserMessage('done', over(false)) });
        const foreign = await way.call(other, 'sendMessage', { message: newUserMessage('done', over(true)) });
        expect(foreign.text).toContain('0 references, 0 messages before');
        expect(withoutIds(foreign), way.name).toEqual(withoutIds(fresh));
        if (way.has('sendStreamingMessage')) {
          const streamed = await way.call(other, 'sendStreamingMessage', {
            message: newUserMessage('done', over(true)),
          });
          expect(streamed.text, way.name).toContain('0 references, 0 messages before');
        }
        if (!way.has('listTasks')) continue;
        const { text } = await way.call(other, 'listTasks', { contextId });
        expect(text).not.toContain(`"id":"${id}"`);
      }
      const all = await first().call(other, 'listTasks', {});
      expect(all.text).not.toContain(`"id":"${id}"`);
    });

    it.each(trusted)('refuses the page token of $name like one that no server made', async (crossing) => {
      const { owner, other } = crossing;
      await taskOf(owner, 'done');
      await taskOf(owner, 'done');
      for (const way of waysFor(crossing).filter((one) => one.has('listTasks'))) {
        const page = await way.call(owner, 'listTasks', { pageSize: 1 });
        const pageToken = /"nextPageToken":"([^"]+)"/.exec(page.text)?.[1] ?? '';
        expect(isRefused(await way.call(owner, 'listTasks', { pageSize: 1, pageToken }))).toBe(false);
        const malformed = await way.call(other, 'listTasks', { pageSize: 1, pageToken: 'AAAA' });
        expect(isRefused(malformed)).toBe(true);
        const foreign = await way.call(other, 'listTasks', { pageSize: 1, pageToken });
        expect(withoutIds(foreign)).toEqual(withoutIds(malformed));
      }
    });

    it.each(trusted)('keeps the message ids of $name apart (Spec §3.3.1)', async (crossing) => {
      const { owner, other } = crossing;
      for (const way of waysFor(crossing).filter((one) => one.has('sendMessage'))) {
        const messageId = randomUUID();
        const { id } = await taskOf(owner, 'done', { messageId });
        const send = (caller: Caller, text: string) =>
          way.call(caller, 'sendMessage', { message: newUserMessage(text, { messageId }) });
        expect((await send(owner, 'done')).text, way.name).toContain(id);
        const sent = await send(other, 'done');
        expect(isRefused(sent), way.name).toBe(false);
        expect(sent.text, way.name).not.toContain(id);
        // A repeat with another text would be refused to the sender of the first message.
        const changed = await send({ ...other, user: 'zoe' }, 'ask');
        expect(isRefused(changed), way.name).toBe(false);
        expect(changed.text, way.name).not.toContain(id);
      }
    });

    it('refuses to start and to list in a tenant that is not granted, whether it has tasks or not', async () => {
      await taskOf({ user: 'ann', tenant: 'north' }, 'done');
      for (const way of world.ways.filter(({ hasTenants }) => hasTenants)) {
        for (const [operation, request] of [
          ['sendMessage', { message: newUserMessage('done') }],
          ['sendStreamingMessage', { message: newUserMessage('done') }],
          ['listTasks', {}],
          ['getExtendedAgentCard', {}],
        ] as const) {
          const existing = await way.call({ user: 'eve', tenant: 'north' }, operation, request);
          const none = await way.call({ user: 'eve', tenant: 'nowhere' }, operation, request);
          expect(isRefused(existing), `${way.name} ${operation}`).toBe(true);
          expect(withoutIds(existing)).toEqual(withoutIds(none));
          const anonymous = await way.call({ user: '', tenant: 'north' }, operation, request);
          expect(isRefused(anonymous)).toBe(true);
        }
      }
    });
  });
}
