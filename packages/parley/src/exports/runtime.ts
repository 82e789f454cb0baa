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

/** Random ids, and ids in the order they are asked for: within one ms they are told apart by a counter. */
export const systemIds: IdSource = {
  ordered: orderedIds(),
  random: () => crypto.randomUUID(),
};

/** UUIDv7 (RFC 9562 §5.7): time, counter, random bits. Asked for with every message, so what can be kept is kept. */
function orderedIds(): () => string {
  const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
  const pool = new Uint8Array(8 * 512);
  let used = pool.length;
  let time = 0;
  let count = 0;
  let prefix = '';

  const setTime = (ms: number) => {
    time = ms;
    count = 0;
    const digits = ms.toString(16).padStart(12, '0');
    prefix = `${digits.slice(0, 8)}-${digits.slice(8)}-`;
  };
  const byte = (at: number) => hex[pool[used + at] ?? 0];

  return () => {
    const now = Date.now();
    if (now > time) setTime(now);
    else if (++count > 0xfff) setTime(time + 1);
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    // The variant of RFC 9562 is in the two highest bits.
    const variant = hex[((pool[used] ?? 0) & 0x3f) | 0x80];
    const node = `${byte(2)}${byte(3)}${byte(4)}${byte(5)}${byte(6)}${byte(7)}`;
    const id = `${prefix}${(0x7000 + count).toString(16)}-${variant}${byte(1)}-${node}`;
    used += 8;
    return id;
  };
}
