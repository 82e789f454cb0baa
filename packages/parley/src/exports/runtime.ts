import type { Clock } from '../runtime/clock.js';
import type { IdSource } from '../runtime/id-source.js';
import { LONGEST_TIMER_MS, longTimer } from '../runtime/long-timers.js';
import { uuids } from '../runtime/uuids.js';

/** Not bound once, because tests may replace `Date`. */
const now = () => Date.now();

/** The time of the machine. */
export const systemClock: Clock = {
  now,
  monotonic: () => performance.now(),
  after: (ms, task) => {
    if (ms > LONGEST_TIMER_MS) return longTimer(systemClock.after, ms, task);
    const timer = setTimeout(task, ms);
    // Not every host has timers that let the process end.
    (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer);
  },
  soon: typeof setImmediate === 'function' ? (task) => void setImmediate(task) : (task) => void setTimeout(task, 0),
  hold: (work) => {
    const timer = setInterval(() => {}, LONGEST_TIMER_MS);
    const release = () => clearInterval(timer);
    work.then(release, release);
    return work;
  },
};

/** As `systemClock`, for waiting callers: a running timer keeps the process alive. */
export const callerClock: Clock = {
  ...systemClock,
  after: (ms, task) => {
    if (ms > LONGEST_TIMER_MS) return longTimer(callerClock.after, ms, task);
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** Ids from the random bytes of the host. Clients do not use them, so that bundlers leave them out. */
export const systemIds: IdSource = /* @__PURE__ */ uuids({
  now,
  fill: (bytes) => void crypto.getRandomValues(bytes),
});

/** The random ids of clients, with less code. Pages without TLS have no `randomUUID`. */
export const callerIds: Pick<IdSource, 'random'> = {
  random: () => crypto.randomUUID?.() ?? uuidOf(crypto.getRandomValues(new Uint8Array(16))),
};

/** A UUID of version 4 (RFC 9562 §5.4) of 16 random bytes. */
export function uuidOf(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const variant = '89ab'[(bytes[8] ?? 0) & 3];
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, `$1-$2-4$3-${variant}$4-`);
}
