import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';

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

/** Not every host has timers that can let the process end. */
function isRefCounted(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer;
}

let lastTime = 0;
let lastCount = 0;

/** Random ids, and ids in the order they are asked for: within one ms they are told apart by a counter. */
export const systemIds: IdSource = {
  ordered() {
    const now = Date.now();
    if (now > lastTime) {
      lastTime = now;
      lastCount = 0;
    } else if (++lastCount > 0xfff) {
      lastTime++;
      lastCount = 0;
    }
    const time = lastTime.toString(16).padStart(12, '0');
    const count = (0x7000 + lastCount).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-${count}-${crypto.randomUUID().slice(19)}`;
  },
  random: () => crypto.randomUUID(),
};
