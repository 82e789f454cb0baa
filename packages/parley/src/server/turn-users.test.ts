import { afterAll, describe, expect, it, vi } from 'vitest';
import { call, type Execute, engine, message } from '../../test/engine.js';
import { SqliteFiles } from '../../test/sqlite-files.js';
import type { User } from '../auth/user.js';
import { systemClock as clock } from '../exports/runtime.js';

const files = new SqliteFiles();
afterAll(() => files.remove());

const USER: User = {
  id: 'https://issuer.example|ada',
  name: 'Ada',
  scopes: ['read', 'write'],
  permissions: ['approve'],
  metadata: { department: 'research' },
  tenants: ['north'],
  expiresAt: 1_800_000_000_000,
};
/** The credential and its expiry are not stored with a turn. */
const { tenants: _, expiresAt: __, ...KEPT } = USER;

describe('the user of a turn', () => {
  it('is the user as it was when the message was accepted, also after a restart', async () => {
    const path = files.fresh();
    const seen: (User | undefined)[] = [];
    let go = (): void => {};
    const executor = {
      resumable: true,
      execute: async (context: { readonly user: User | undefined }, events: { complete(): Promise<void> }) => {
        seen.push(context.user);
        if (seen.length > 1) return events.complete();
        await new Promise<void>((resolve) => {
          go = resolve;
        });
      },
    };
    const first = await files.open(clock, { path });
    const one = engine(executor, { storage: first, clock });
    const mutable = { ...USER, scopes: ['read', 'write'] };
    await one.handler.sendMessage(
      { message: message(), configuration: { returnImmediately: true } },
      call({ user: mutable }),
    );
    mutable.scopes.push('admin');
    await one.handler.close();
    go();
    await first.close();
    const second = await files.open(clock, { path });
    const other = engine(executor, { storage: second, clock });
    await other.handler.start();
    await vi.waitFor(() => expect(seen).toHaveLength(2), 15_000);
    expect(seen).toEqual([KEPT, KEPT]);
    await other.handler.close();
    await second.close();
  });

  it('is a copy: an agent that changes it changes no other turn', async () => {
    const seen: (readonly string[] | undefined)[] = [];
    const { handler } = engine(
      (context, events) => {
        const { user } = context;
        (user?.scopes as string[] | undefined)?.push('admin');
        seen.push(user?.scopes, context.user?.scopes);
        void events.complete();
      },
      { clock },
    );
    await handler.sendMessage({ message: message() }, call({ user: USER }));
    expect(seen).toEqual([
      ['read', 'write', 'admin'],
      ['read', 'write'],
    ]);
    expect(USER.scopes).toEqual(['read', 'write']);
  });

  it('is absent for an anonymous caller', async () => {
    let user: User | undefined = USER;
    const execute: Execute = (context, events) => {
      user = context.user;
      void events.complete();
    };
    const { handler } = engine(execute, { clock });
    await handler.sendMessage({ message: message() }, call());
    expect(user).toBeUndefined();
  });
});
