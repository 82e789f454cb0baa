import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../packages/parley/src/store/task-storage.js';
import { acceptance, newTask, said } from './task-play.js';
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

/** That scopes are separate, whatever they are called. */
export function scopesContract(open: OpenStorage): void {
  describe('scopes', () => {
    const tested = useStorage(open);

    it('see their own tasks only, and anonymous callers are no user (Spec §3.1.4)', async () => {
      const { storage } = tested;
      for (const [index, scope] of SCOPES.entries()) {
        const task = newTask(tested, `t${index}`, { contextId: 'shared' });
        await storage.accept(acceptance(said('m'), task, { scope }));
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

    it('cannot reach a task of another one by any operation', async () => {
      const { storage } = tested;
      const [owner, ...others] = SCOPES;
      if (owner === undefined) throw new Error('There are no scopes');
      await storage.accept(acceptance(said('m'), newTask(tested, 't'), { scope: owner }));
      await storage.putPushConfig(owner, { id: 'p', taskId: 't', url: 'https://example.com' });
      for (const scope of others.filter(({ agent }) => agent === 'a')) {
        expect(await storage.task(scope, 't')).toBeUndefined();
        expect(await storage.accept(acceptance(said('x'), 't', { scope }))).toEqual({ kind: 'not-found' });
        expect(await storage.requestCancel(scope, 't', {})).toEqual({ kind: 'not-found' });
        expect(await storage.delete(scope, 't')).toBe('not-found');
        expect(await storage.create(scope, newTask(tested, 't'))).toBe(false);
        expect(await storage.putPushConfig(scope, { id: 'q', taskId: 't', url: 'https://example.com' })).toBe(false);
        expect(await storage.pushConfig(scope, 't', 'p')).toBeUndefined();
        expect(await storage.pushConfigs(scope, 't', { limit: 10 })).toBeUndefined();
        expect(await storage.deletePushConfig(scope, 't', 'p')).toBe(false);
      }
      expect(await storage.pushConfigs(owner, 't', { limit: 10 })).toHaveLength(1);
    });

    it('are separate for contexts of the same name (Spec §13.1)', async () => {
      const { storage } = tested;
      const [mine, yours] = SCOPES;
      if (mine === undefined || yours === undefined) throw new Error('There are no scopes');
      await storage.accept(acceptance(said('m'), newTask(tested, 't1', { contextId: 'c' }), { scope: mine }));
      const other = newTask(tested, 't2', { contextId: 'c' });
      expect((await storage.accept(acceptance(said('m'), other, { scope: yours }))).kind).toBe('accepted');
    });
  });
}
