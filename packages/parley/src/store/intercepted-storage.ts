import type { IdempotencyKeys } from './idempotency-keys.js';
import type { OwnerStorage } from './owner-storage.js';
import type { PushStorage } from './push-storage.js';
import type { TaskStorage } from './task-storage.js';

type Calls<Port> = {
  [Name in keyof Port]-?: Port[Name] extends (...args: never) => Promise<unknown> ? Name : never;
}[keyof Port];

/** The name of a storage method, with the name of its part as prefix: `accept`, `keys.recall`, `push.claim`. */
export type StorageCall =
  | Calls<TaskStorage>
  | `keys.${Calls<IdempotencyKeys>}`
  | `push.${Calls<PushStorage>}`
  | `owners.${Calls<OwnerStorage>}`;

/** Called in place of a storage method. `run` calls the original method. */
export type Intercept = (call: StorageCall, args: readonly unknown[], run: () => unknown) => unknown;

/**
 * Wraps a storage so that every call, including those of its parts, goes through `intercept`. `watchCommits` is not
 * intercepted, because it returns a function. `own` replaces members of the storage.
 */
export function interceptedStorage<Storage extends TaskStorage>(
  storage: Storage,
  intercept: Intercept,
  own: Partial<TaskStorage> = {},
): Storage {
  const keys = interceptPort(storage.keys, { intercept, part: 'keys.', own: {} });
  const push = interceptPort(storage.push, { intercept, part: 'push.', own: {} });
  const owners = interceptPort(storage.owners, { intercept, part: 'owners.', own: {} });
  return interceptPort(storage, { intercept, part: '', own: { keys, push, owners, ...own } });
}

function interceptPort<Port extends object>(
  port: Port,
  { intercept, part, own }: { readonly intercept: Intercept; readonly part: string; readonly own: object },
): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name);
      if (typeof member !== 'function') return member;
      if (name === 'watchCommits') return member.bind(target);
      const call = `${part}${String(name)}` as StorageCall;
      return (...args: readonly unknown[]) => intercept(call, args, () => Reflect.apply(member, target, args));
    },
  });
}
