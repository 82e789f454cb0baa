import type { EqualTimers } from '../../runtime/equal-timers.js';
import type { IdempotencyKeys } from '../../store/idempotency-keys.js';
import type { TaskStorage } from '../../store/task-storage.js';
import { storageStalledError } from './unavailable-errors.js';

const READS: ReadonlySet<string | symbol> = new Set<keyof TaskStorage | keyof IdempotencyKeys>([
  'task',
  'tasks',
  'records',
  'recall',
  'abandoned',
]);

/**
 * A shared storage whose reads have a bound: callers hear UNAVAILABLE when the network between process and storage
 * hangs. A storage in this process is returned as it is.
 */
export function withBoundedReads(storage: TaskStorage, patience: EqualTimers): TaskStorage {
  if (!storage.shared) return storage;
  const keys = boundedReads(storage.keys, patience, {});
  return boundedReads(storage, patience, { keys });
}

/** `parts`: members in place of those of the port. */
function boundedReads<Port extends object>(port: Port, patience: EqualTimers, parts: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return Reflect.get(parts, name) ?? member;
      if (!READS.has(name)) return member.bind(target);
      return (...args: readonly unknown[]) =>
        bounded(Reflect.apply(member, target, args) as Promise<unknown>, patience);
    },
  });
}

function bounded<T>(read: Promise<T>, patience: EqualTimers): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = patience.start(() => reject(storageStalledError()));
    const over = () => patience.stop(timer);
    read.then(resolve, reject).then(over, over);
  });
}
