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
export const systemIds: IdSource = uuids();

/** UUIDs of version 7 and 4 (RFC 9562 §5.7, §5.4). Asked for several times with every message, so what can be kept is kept. */
function uuids(): IdSource {
  const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
  const pool = new Uint8Array(8 * 1024);
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
  const need = (bytes: number) => {
    if (used + bytes > pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
  };
  const next = () => {
    const byte = pool[used++] ?? 0;
    return hex[byte];
  };
  // The variant is in the two highest bits.
  const variant = () => {
    const byte = pool[used++] ?? 0;
    return hex[(byte & 0x3f) | 0x80];
  };
  const version4 = () => {
    const byte = pool[used++] ?? 0;
    return hex[(byte & 0x0f) | 0x40];
  };
  const node = () => `${variant()}${next()}-${next()}${next()}${next()}${next()}${next()}${next()}`;

  return {
    ordered() {
      const now = Date.now();
      if (now > time) setTime(now);
      else if (++count > 0xfff) setTime(time + 1);
      need(8);
      return `${prefix}${(0x7000 + count).toString(16)}-${node()}`;
    },
    random() {
      need(16);
      return `${next()}${next()}${next()}${next()}-${next()}${next()}-${version4()}${next()}-${node()}`;
    },
  };
}
