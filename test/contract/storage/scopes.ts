import { describe, expect, it } from 'vitest';
import { type Scope, type TaskKey, taskKeyText } from '../../../packages/parley/src/store/task-key.js';
import { acceptance, claimsOf, ELSEWHERE, LEASE, newTask, TaskPlay, userMessage } from './task-play.js';
import { type OpenStorage, useStorage } from './tested-storage.js';

const SCOPES: readonly Scope[] = [
  { agent: 'a', tenant: '', owner: null },
  { agent: 'a', tenant: '', owner: '' },
  { agent: 'a', tenant: '', owner: 'null' },
  { agent: 'a', tenant: '', owner: 'undefined' },
  { agent: 'a', tenant: 'null', owner: null },
  { agent: 'a', tenant: 'x', owner: null },
  { agent: 'a', tenant: 'x', owner: 'o' },
  { agent: 'a', tenant: 'o', owner: 'x' },
  { agent: 'a', tenant: 'x:o', owner: '' },
  { agent: 'a', tenant: '', owner: 'x:o' },
  { agent: 'a:x', tenant: '', owner: 'o' },
  { agent: 'b', tenant: '', owner: null },
  { agent: '', tenant: '', owner: null },
];

/** The contract that scopes are separate, with any names. */
export function scopesContract(open: OpenStorage): void {
  describe('scopes', () => {
    const tested = useStorage(open);

    it('see their own tasks only, and anonymous callers are no user (Spec §3.1.4)', async () => {
      const { storage } = tested;
      for (const [index, scope] of SCOPES.entries()) {
        const task = newTask(tested, `t${index}`, { contextId: 'shared' });
        await storage.accept(acceptance(userMessage('m'), task, { scope }));
      }
      for (const [index, scope] of SCOPES.entries()) {
        for (const other of SCOPES.keys()) {
          const stored = await storage.task(scope, `t${other}`);
          expect(stored?.scope).toEqual(other === index ? scope : undefined);
        }
        const page = await storage.tasks({
          scope,
          contextId: 'shared',
          orderBy: 'status',
          limit: 50,
          artifacts: true,
          history: true,
        });
        expect(page.tasks.map(({ task }) => task.id)).toEqual([`t${index}`]);
        expect(page.total).toBe(1);
      }
    });

    it('are listed page by page, each once', async () => {
      const { storage } = tested;
      for (const [index, scope] of SCOPES.entries()) {
        for (const id of [`t${index}`, `u${index}`])
          expect(await storage.create(scope, newTask(tested, id))).toBe(true);
      }
      const found: Scope[] = [];
      for (let cursor: string | undefined, isDone = false; !isDone; ) {
        const page = await storage.owners.listScopes({ limit: 5, ...(cursor !== undefined && { cursor }) });
        found.push(...page.map(({ scope }) => scope));
        cursor = page.at(-1)?.cursor;
        isDone = page.length < 5;
      }
      expect(found).toHaveLength(SCOPES.length);
      expect(found).toEqual(expect.arrayContaining([...SCOPES]));
    });

    it('are apart for all texts that look alike', async () => {
      const { storage } = tested;
      const parts = [
        '',
        '-',
        'null',
        ' ',
        "'",
        '\0',
        'a\0',
        'a',
        'A',
        'a ',
        'é',
        'e\u0301',
        '\u{10000}',
        '\ufffd',
        '1',
        '01',
        '%',
      ];
      const scopes = parts.flatMap((text, index) => [
        { agent: 'a', tenant: '', owner: text },
        { agent: 'a', tenant: text, owner: null },
        { agent: 'a', tenant: text, owner: parts[(index + 1) % parts.length] ?? '' },
      ]);
      const different = [...new Map(scopes.map((scope) => [JSON.stringify(scope), scope])).values()];
      for (const [index, scope] of different.entries()) {
        const task = newTask(tested, 't', { contextId: `c${index}` });
        expect(await storage.accept(acceptance(userMessage('m'), task, { scope }))).toMatchObject({ kind: 'accepted' });
      }
      for (const [index, scope] of different.entries()) {
        const stored = await storage.task(scope, 't');
        expect([stored?.scope, stored?.task.contextId]).toEqual([scope, `c${index}`]);
      }
    });

    it('cannot reach a task of another one by any operation', async () => {
      const { storage } = tested;
      const [owner, ...others] = SCOPES;
      if (owner === undefined) throw new Error('There are no scopes');
      const play = await TaskPlay.begin(tested, 't', { scope: owner });
      await storage.push.putConfig(owner, { id: 'p', taskId: 't', url: 'https://example.com' });
      for (const scope of others.filter(({ agent }) => agent === 'a')) {
        expect(await storage.task(scope, 't')).toBeUndefined();
        expect(await storage.accept(acceptance(userMessage('x'), 't', { scope }))).toEqual({ kind: 'not-found' });
        expect(await storage.requestCancel(scope, 't', {})).toEqual({ kind: 'not-found' });
        expect(await storage.delete(scope, 't')).toBe('not-found');
        const key = { scope, id: 't' };
        expect(await storage.records(key, 0, 1_000)).toMatchObject({ records: [], last: 0 });
        expect(await storage.append({ ...play.draft(['TASK_STATE_WORKING']), key })).toEqual({ kind: 'not-found' });
        expect(await claimsOf(storage, { ...LEASE, agents: ['a'], limit: 1, task: key })).toEqual([]);
        const held = { ...play.held, key };
        expect(await storage.renew({ ...LEASE, turns: [held] })).toEqual([{ held: false }]);
        expect(await storage.begin(held, 2)).toEqual({ held: false });
        expect(await storage.saveCheckpoint(held, 1)).toBe(false);
        expect(await storage.release({ ...held, attempt: 1 }, 'done')).toEqual({ waiting: 0 });
        expect(await storage.push.putConfig(scope, { id: 'q', taskId: 't', url: 'https://example.com' })).toBe(
          'not-found',
        );
        expect(await storage.push.config(scope, 't', 'p')).toBeUndefined();
        expect(await storage.push.configs(scope, 't', { limit: 10 })).toBeUndefined();
        expect(await storage.push.deleteConfig(scope, 't', 'p')).toBe(false);
      }
      expect(await storage.push.configs(owner, 't', { limit: 10 })).toHaveLength(1);
    });

    it('are separate for contexts of the same name (Spec §13.1)', async () => {
      const { storage } = tested;
      const [mine, yours] = SCOPES;
      if (mine === undefined || yours === undefined) throw new Error('There are no scopes');
      await storage.accept(acceptance(userMessage('m'), newTask(tested, 't1', { contextId: 'c' }), { scope: mine }));
      const other = newTask(tested, 't2', { contextId: 'c' });
      expect((await storage.accept(acceptance(userMessage('m'), other, { scope: yours }))).kind).toBe('accepted');
    });
  });
}

/** The contract that ids are unique only within a scope. */
export function equalIdsContract(open: OpenStorage): void {
  describe('scopes with equal ids', () => {
    const tested = useStorage(open);

    it('have tasks of their own', async () => {
      const { storage, clock } = tested;
      const plays: TaskPlay[] = [];
      for (const [index, scope] of SCOPES.entries()) {
        if (index === 0) expect(await storage.create(scope, newTask(tested, 't'))).toBe(true);
        else plays.push(await TaskPlay.begin(tested, 't', { scope }));
        expect(await storage.create(scope, newTask(tested, 't'))).toBe(false);
      }
      const [first, ...others] = plays;
      if (first === undefined) throw new Error('There are no scopes');
      await first.write(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'], { endsTurn: first.turn });
      expect(await storage.renew({ ...LEASE, turns: others.map(({ held }) => held) })).toEqual(
        others.map(() => ({ held: true })),
      );
      for (const { scope } of others) {
        expect(await storage.task(scope, 't')).toMatchObject({ scope, seq: 1, running: true });
        expect((await storage.records({ scope, id: 't' }, 0, 10_000)).last).toBe(1);
      }
      expect(await storage.delete(first.scope, 't')).toBe('deleted');
      clock.pass(LEASE.leaseMs + 1);
      const claims = await claimsOf(storage, { ...ELSEWHERE, agents: ['a', 'a:x', 'b', ''], limit: 99 });
      // Turns of different scopes may come in any order.
      const keyTexts = (keys: readonly TaskKey[]) => keys.map(taskKeyText).sort();
      expect(keyTexts(claims.map(({ scope, task }) => ({ scope, id: task.id })))).toEqual(
        keyTexts(others.map(({ key }) => key)),
      );
    });
  });
}
