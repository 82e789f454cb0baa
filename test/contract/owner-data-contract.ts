import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import { type FileStore, fileTransfer, memoryFileStore } from '../../packages/parley/src/exports/files.js';
import type { A2AHost } from '../../packages/parley/src/exports/node.js';
import { createA2AHost } from '../../packages/parley/src/exports/node.js';
import { eraseOwner } from '../../packages/parley/src/exports/storage.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import type { TaskStorage } from '../../packages/parley/src/store/task-storage.js';
import type { AuditRecord } from '../../packages/parley/src/telemetry/audit-log.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { LocalServer } from '../push-receiver/receiver-world.js';
import type { SearchedDatabase } from './secret-search-contract.js';

const ADA = 'm4rk-of-ada';
const BOB = 'm4rk-of-bob';
const TOKENS = { [ADA]: 'token-of-ada', [BOB]: 'token-of-bob' } as const;
type Owner = keyof typeof TOKENS;
const ADAS = { owner: `bearer|${ADA}` };
const BOBS = { owner: `bearer|${BOB}` };

/** Returns all encodings in which a database may contain a text. */
function formsOf(text: string): readonly string[] {
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(`${'\0'.repeat(offset)}${text}`).toString('base64');
    return encoded.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + text.length) * 4) / 3));
  });
  return [text, Buffer.from(text).toString('hex'), ...base64];
}

/** Returns the places of a text, with the characters around it. */
export function foundIn(contents: string, text: string): readonly string[] {
  return formsOf(text).flatMap((form) => {
    const at = contents.indexOf(form);
    return at < 0 ? [] : [contents.slice(Math.max(0, at - 80), at + 80)];
  });
}

/** An agent whose behaviour the message selects. */
function agent(release: Promise<void>): AgentExecutor {
  return {
    async execute(context, events) {
      const [part] = context.message.parts;
      const text = part !== undefined && part.text !== undefined ? part.text : '';
      if (text.startsWith('stubborn')) {
        await events.artifact(`begun ${text}`);
        await release;
        await events.artifact(`late ${text}`);
        return events.complete(text);
      }
      if (text.startsWith('run')) {
        for (let at = 0; !context.signal.aborted; at += 1) {
          await events.artifact(`${text} ${at}`);
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, 20);
            context.signal.addEventListener('abort', () => {
              clearTimeout(timer);
              resolve();
            });
          });
        }
        return;
      }
      if (text.startsWith('ask')) return events.inputRequired(text);
      await events.artifact(`made of ${text}`, { metadata: { about: text } });
      await events.complete(text);
    },
  };
}

const direct: AgentExecutor = {
  replies: 'either',
  async execute(context, events) {
    const [part] = context.message.parts;
    await events.message(`direct ${part !== undefined && part.text !== undefined ? part.text : ''}`);
  },
};

/** The members of the results that the tests read. */
interface Result {
  readonly id: string;
  readonly totalSize: number;
  readonly task: { readonly id: string; readonly status: { readonly state: string } };
}

/** A host with two agents on a storage and a file store. */
class World implements AsyncDisposable {
  readonly records: AuditRecord[] = [];
  readonly #release = Promise.withResolvers<void>();
  readonly host: A2AHost;
  url = '';
  readonly storage: TaskStorage;
  readonly files: FileStore;

  constructor(storage: TaskStorage, files: FileStore) {
    this.storage = storage;
    this.files = files;
    const tokens = Object.entries(TOKENS).map(([subject, token]) => ({ token, subject }));
    this.host = createA2AHost({
      agents: { '/one': { agent: agent(this.#release.promise) }, '/two': { agent: direct } },
      storage,
      logger: new CapturingLogger(),
      authenticator: new BearerTokens(tokens),
      push: { allow: ['127.0.0.1'] },
      files: fileTransfer({ store: files }),
      audit: { write: (record) => void this.records.push(record) },
    });
  }

  async listen(): Promise<this> {
    this.url = (await this.host.listen(0)).url;
    return this;
  }

  /** Lets stubborn agents continue. */
  release(): void {
    this.#release.resolve();
  }

  async call(owner: Owner, path: string, method: string, params: object) {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${TOKENS[owner]}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as { readonly result: Result; readonly error?: { readonly message: string } };
  }

  send(owner: Owner, text: string, { path = '/one', more = {}, configuration = {} } = {}) {
    const message = {
      messageId: `${owner}-${randomUUID()}`,
      role: 'ROLE_USER',
      parts: [{ text: `${text} ${owner}` }],
      metadata: { note: owner },
      ...more,
    };
    return this.call(owner, path, 'SendMessage', { message, configuration });
  }

  upload(owner: Owner, path = '/one') {
    return fetch(`${this.url}${path}/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKENS[owner]}`,
        'content-type': 'text/plain',
        'content-disposition': `attachment; filename="${owner}.txt"`,
      },
      body: `bytes of ${owner}`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.host.close({ graceMs: 0 });
    await this.storage.close();
  }
}

/** Plants data of an owner in all places. Resolves to the ids of tasks that have ended. */
async function plant(world: World, owner: Owner, hook: string): Promise<readonly string[]> {
  const ids: string[] = [];
  const webhook = { url: `${hook}/${owner}`, token: owner, authentication: { scheme: 'Bearer', credentials: owner } };
  for (let at = 0; at < 3; at += 1) {
    const { result } = await world.send(owner, `done ${at}`, {
      more: { contextId: `context-${owner}`, extensions: [`https://example.com/${owner}`] },
      configuration: { taskPushNotificationConfig: { ...webhook, id: `hook-${owner}` } },
    });
    ids.push(result.task.id);
  }
  const asked = await world.send(owner, 'ask');
  ids.push(asked.result.task.id);
  // A parked queue.
  await world.send(owner, 'done', {
    configuration: { taskPushNotificationConfig: { ...webhook, id: `gone-${owner}`, url: `${hook}/gone/${owner}` } },
  });
  await world.send(owner, 'direct', { path: '/two' });
  expect((await world.upload(owner)).status).toBe(201);
  expect((await world.upload(owner, '/two')).status).toBe(201);
  await expect
    .poll(async () => (await world.host.deliveriesOf('/one').list({ standing: 'parked' })).queues.length)
    .not.toBe(0);
  return ids;
}

/** The tests of the data of users on one kind of storage. `create` makes an empty database. */
export function ownerDataContract(
  name: string,
  create: () => Promise<SearchedDatabase>,
  { newFiles = async () => ({ store: memoryFileStore(), contents: async () => '' }) } = {},
): void {
  describe(`the data of a user in ${name}`, () => {
    const openWorld = async () => {
      const database = await create();
      const files = await newFiles();
      const world = await new World(await database.open(), files.store).listen();
      const contents = async () => `${await database.contents()}\n${await files.contents()}`;
      return { database, world, contents };
    };
    const withHook = (answered: string[] = []) =>
      LocalServer.open((request, response) => {
        answered.push(request.url ?? '');
        response.writeHead(request.url?.startsWith('/gone') === true ? 410 : 204).end();
      });

    it('are gone after an erasure, and those of others stay', async () => {
      await using hook = await withHook();
      const { world, contents } = await openWorld();
      await using _ = world;
      await plant(world, ADA, hook.url);
      const kept = await plant(world, BOB, hook.url);
      if (name !== 'memory') expect(foundIn(await contents(), ADA)).not.toEqual([]);
      const counted = await world.host.countOwner(ADAS);
      expect(counted).toMatchObject({ scopes: 2, tasks: 5, openTasks: 1, files: 2 });
      expect(counted.idempotencyKeys).toBeGreaterThan(0);
      const erased = await world.host.eraseOwner(ADAS);
      expect(erased).toEqual({ ...withoutOpen(counted), canceledTurns: 0 });
      expect(foundIn(await contents(), ADA)).toEqual([]);
      expect(await world.host.countOwner(ADAS)).toEqual({ ...NOTHING, openTasks: 0 });
      for (const id of kept) {
        const { result } = await world.call(BOB, '/one', 'GetTask', { id });
        expect(JSON.stringify(result)).toContain(BOB);
      }
      const list = await world.call(BOB, '/one', 'ListTasks', {});
      expect(list.result.totalSize).toBe(5);
      // The user can send messages again.
      const again = await world.send(ADA, 'done');
      expect(again.result.task.status.state).toBe('TASK_STATE_COMPLETED');
      expect((await world.call(ADA, '/one', 'ListTasks', {})).result.totalSize).toBe(1);
      const acts = world.records.filter(({ operation }) => operation === 'eraseOwner');
      expect(acts).toMatchObject([{ phase: 'begin' }, { phase: 'end', outcome: 'done', counts: erased }]);
      expect(foundIn(JSON.stringify(acts), ADA)).toEqual([]);
    });

    it('stay outside of the named agent', async () => {
      await using hook = await withHook();
      const { world } = await openWorld();
      await using _ = world;
      const ids = await plant(world, ADA, hook.url);
      await world.host.eraseOwner({ ...ADAS, agent: '/two' });
      expect(await world.host.countOwner(ADAS)).toMatchObject({ scopes: 1, tasks: 5, files: 1 });
      expect((await world.call(ADA, '/one', 'GetTask', { id: ids[0] })).result.id).toBe(ids[0]);
    });

    it('are erased while turns run: those are canceled, or overtaken and fenced', async () => {
      const { world, contents } = await openWorld();
      await using _ = world;
      const running = world.send(ADA, 'run');
      const stubborn = world.send(ADA, 'stubborn');
      const other = world.send(BOB, 'run', { configuration: { returnImmediately: true } });
      await expect.poll(async () => (await world.host.countOwner(ADAS)).openTasks).toBe(2);
      const erased = await world.host.eraseOwner(ADAS, { graceMs: 500 });
      expect(erased).toMatchObject({ tasks: 2, canceledTurns: 2 });
      world.release();
      // Both senders get an answer.
      for (const answer of await Promise.all([running, stubborn])) expect(answer).toBeDefined();
      await other;
      expect(foundIn(await contents(), ADA)).toEqual([]);
      expect(await world.host.countOwner(ADAS)).toEqual({ ...NOTHING, openTasks: 0 });
      expect(await world.host.countOwner(BOBS)).toMatchObject({ openTasks: 1 });
    });

    it('are erased by another process on a shared storage, whose late events of turns are refused', async () => {
      const { database, world, contents } = await openWorld();
      await using _ = world;
      // A storage of one process has no other one.
      const other = world.storage.shared ? await database.open() : world.storage;
      const stubborn = world.send(ADA, 'stubborn');
      const running = world.send(ADA, 'run');
      await expect.poll(async () => (await world.host.countOwner(ADAS)).openTasks).toBe(2);
      const answered = [stubborn, running].map((call) => call.then(({ result, error }) => error ?? result.task.status));
      const erased = await eraseOwner({ storage: other, files: world.files, owner: ADAS, graceMs: 1_000 });
      expect(erased).toMatchObject({ tasks: 2, canceledTurns: 2 });
      world.release();
      // The process of the senders answers them, at the latest after its next heartbeat.
      await Promise.all(answered);
      expect(foundIn(await contents(), ADA)).toEqual([]);
      if (other !== world.storage) await other.close();
    });

    it('do not come back by messages that race with the erasure: these are refused as retryable', async () => {
      const { world, contents } = await openWorld();
      await using _ = world;
      let isOver = false;
      const refusals: unknown[] = [];
      const senders = Array.from({ length: 6 }, async (_, at) => {
        while (!isOver) {
          const { error } = await world.send(ADA, 'done', { path: at % 3 === 0 ? '/two' : '/one' });
          if (error !== undefined) refusals.push(error);
        }
      });
      const stubborn = world.send(ADA, 'stubborn');
      await expect.poll(async () => (await world.host.countOwner(ADAS)).tasks).toBeGreaterThan(10);
      let counted = -1;
      const { storage } = world;
      const end = storage.owners.scrub.bind(storage.owners);
      Object.assign(storage.owners, {
        // The block has just ended. No earlier data are left.
        scrub: async () => {
          isOver = true;
          await end();
        },
      });
      await world.host.eraseOwner(ADAS, { graceMs: 300 });
      isOver = true;
      world.release();
      await Promise.all([...senders, stubborn]);
      expect(refusals.length).toBeGreaterThan(0);
      for (const refusal of refusals) expect(JSON.stringify(refusal)).toContain('being erased');
      counted = (await world.host.eraseOwner(ADAS)).tasks;
      // Messages between the end of the block and the end of the senders.
      expect(counted).toBeLessThan(50);
      expect(foundIn(await contents(), ADA)).toEqual([]);
    });

    it('can be erased again after a process died in the middle, and the block of a dead process ends', async () => {
      await using hook = await withHook();
      const { world, contents } = await openWorld();
      await using _ = world;
      await plant(world, ADA, hook.url);
      const { storage } = world;
      await storage.owners.block(ADAS, 60_000);
      const [scope] = await storage.owners.scopes(ADAS);
      if (scope === undefined) throw new Error('There is no scope');
      await storage.owners.erase(scope, 2);
      expect((await world.send(ADA, 'done')).error?.message).toContain('being erased');
      expect((await world.send(BOB, 'done')).error).toBeUndefined();
      // Another call replaces the block, so that it ends soon.
      await storage.owners.block(ADAS, 100);
      await expect.poll(async () => (await world.send(ADA, 'done')).error).toBeUndefined();
      await eraseOwner({ storage, files: world.files, owner: ADAS });
      expect(foundIn(await contents(), ADA)).toEqual([]);
    });

    // These tests share a database, because each of them erases all its data.
    describe('by any id', () => {
      let world: World;
      beforeAll(async () => {
        ({ world } = await openWorld());
        await world.send(ADA, 'done');
      });
      afterAll(() => world[Symbol.asyncDispose]());

      it.each([
        ['a pattern of LIKE', '%', 'bearer|m4rk%'],
        ['a wildcard of a glob', '*', 'bearer|m4rk-of-?da[a-z]*'],
        ['a prefix of another id', 'bearer|m4rk', 'bearer|m4rk-of-ad'],
        ['quotes and escapes', `bearer|m4rk-of-ada"],["x`, `bearer|m4rk-of-ada' OR '1'='1`],
        ['another case and white space', 'BEARER|M4RK-OF-ADA', ' bearer|m4rk-of-ada '],
        ['the text of no owner', 'null', 'undefined'],
        ['U+0000 and half a character', 'bearer|m4rk-of-ada\0', 'bearer|m4rk-of-ada\ud800'],
      ])('belong to the exact id: %s finds nothing of others', async (_, ...owners) => {
        for (const owner of owners) {
          expect(await world.host.eraseOwner({ owner })).toEqual({ ...NOTHING, canceledTurns: 0 });
        }
        expect((await world.host.countOwner(ADAS)).tasks).toBe(1);
      });

      it.each([
        ['an id of many characters', 'x'.repeat(2_000)],
        ['quotes, commas and brackets', `a","b",null],["`],
        ['characters of patterns', '*?[a-z]%_\\'],
        ['no user', null],
        ['an issuer with its subject', 'https://issuer.example/|sub/../ject'],
        ['U+0000', 'a\0b'],
      ])('are found whatever the id is: %s', async (_, owner) => {
        const { storage } = world;
        for (const [agent, tenant] of [
          ['one', ''],
          ['two","', 't%'],
          ['two","', 't_'],
        ] as const) {
          for (const one of [owner, BOBS.owner]) {
            const scope = { agent, tenant, owner: one };
            const status = { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() } as const;
            expect(await storage.create(scope, { id: 'same', contextId: 'c', status })).toBe(true);
            const reply = { messageId: 'r', role: 'ROLE_AGENT', parts: [{ text: 'kept' }] } as const;
            await storage.keys.remember(scope, { key: 'key', digest: 'd', ttlMs: 60_000 }, reply);
          }
        }
        const query = { owner };
        expect(await storage.owners.scopes({ ...query, tenant: 't%' })).toEqual([
          { agent: 'two","', tenant: 't%', owner },
        ]);
        await eraseOwner({ storage, owner: { ...query, agent: 'two","', tenant: 't%' } });
        expect((await storage.owners.scopes(query)).length).toBe(2);
        expect(await eraseOwner({ storage, owner: query })).toMatchObject({ scopes: 2, tasks: 2, idempotencyKeys: 2 });
        expect(await storage.owners.scopes(query)).toEqual([]);
        expect((await storage.owners.scopes(BOBS)).length).toBe(3);
        await eraseOwner({ storage, owner: BOBS });
      });
    });
  });
}

const NOTHING = { scopes: 0, tasks: 0, idempotencyKeys: 0, files: 0, uploads: 0 };

function withoutOpen<T extends { readonly openTasks: number }>({ openTasks: _, ...counts }: T): Omit<T, 'openTasks'> {
  return counts;
}
