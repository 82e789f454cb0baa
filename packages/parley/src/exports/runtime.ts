import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import { uuids } from '../runtime/uuids.js';

/** The time of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, task) {
    const timer: unknown = setTimeout(task, ms);
    if (isRefCounted(timer)) timer.unref();
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
  },
  soon: typeof setImmediate === 'function' ? (task) => void setImmediate(task) : (task) => void setTimeout(task, 0),
};

/** The same for those who wait: as long as one of its timers runs, the process does not end. */
export const callerClock: Clock = {
  ...systemClock,
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** Not every host has timers that can let the process end. */
function isRefCounted(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer;
}

/** Ids of random bytes of the machine. */
export const systemIds: IdSource = uuids({
  now: () => Date.now(),
  fill: (bytes) => void crypto.getRandomValues(bytes),
});
