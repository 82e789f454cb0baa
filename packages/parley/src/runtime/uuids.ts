import type { IdSource } from './id-source.js';

/** Options of `uuids`. */
interface UuidOptions {
  /** Wall-clock time, ms since the epoch. */
  readonly now: () => number;
  /** Fills an array with random bytes. */
  readonly fill: (bytes: Uint8Array) => void;
}

const HYPHEN = 45;
/** Each id takes 8 or 16 bytes. */
const POOL = 8_192;

/**
 * UUIDs of versions 7 and 4 (RFC 9562 §5.7, §5.4). Those of version 7 sort by creation; a counter orders them within a
 * ms. Each id is built in one step from buffered random bytes, because every message needs several.
 */
export function uuids({ now, fill }: UuidOptions): IdSource {
  const digits = '0123456789abcdef';
  const high = viewOf(Uint8Array.from({ length: 256 }, (_, byte) => digits.charCodeAt(byte >> 4)));
  const low = viewOf(Uint8Array.from({ length: 256 }, (_, byte) => digits.charCodeAt(byte & 15)));
  const bytes = new Uint8Array(POOL);
  const pool = viewOf(bytes);
  let used = POOL;
  let time = 0;
  let count = 0;

  const format = (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number): string => {
    if (used === POOL) refill();
    const i = (pool.getUint8(used) & 0x3f) | 0x80;
    const j = pool.getUint8(used + 1);
    const k = pool.getUint8(used + 2);
    const l = pool.getUint8(used + 3);
    const m = pool.getUint8(used + 4);
    const n = pool.getUint8(used + 5);
    const o = pool.getUint8(used + 6);
    const p = pool.getUint8(used + 7);
    used += 8;
    // biome-ignore format: the groups of the id
    return String.fromCharCode(
      high.getUint8(a), low.getUint8(a), high.getUint8(b), low.getUint8(b),
      high.getUint8(c), low.getUint8(c), high.getUint8(d), low.getUint8(d), HYPHEN,
      high.getUint8(e), low.getUint8(e), high.getUint8(f), low.getUint8(f), HYPHEN,
      high.getUint8(g), low.getUint8(g), high.getUint8(h), low.getUint8(h), HYPHEN,
      high.getUint8(i), low.getUint8(i), high.getUint8(j), low.getUint8(j), HYPHEN,
      high.getUint8(k), low.getUint8(k), high.getUint8(l), low.getUint8(l), high.getUint8(m), low.getUint8(m),
      high.getUint8(n), low.getUint8(n), high.getUint8(o), low.getUint8(o), high.getUint8(p), low.getUint8(p),
    );
  };
  const refill = (): void => {
    fill(bytes);
    used = 0;
  };

  return {
    ordered() {
      const ms = now();
      if (ms > time) {
        time = ms;
        count = 0;
      } else if (++count > 0xfff) {
        time += 1;
        count = 0;
      }
      const above = Math.floor(time / 0x1_0000_0000);
      return format(
        above >>> 8,
        above & 0xff,
        (time >>> 24) & 0xff,
        (time >>> 16) & 0xff,
        (time >>> 8) & 0xff,
        time & 0xff,
        0x70 | (count >>> 8),
        count & 0xff,
      );
    },
    random() {
      if (used === POOL) refill();
      const at = used;
      used += 8;
      return format(
        pool.getUint8(at),
        pool.getUint8(at + 1),
        pool.getUint8(at + 2),
        pool.getUint8(at + 3),
        pool.getUint8(at + 4),
        pool.getUint8(at + 5),
        (pool.getUint8(at + 6) & 0x0f) | 0x40,
        pool.getUint8(at + 7),
      );
    },
  };
}

/** The bytes of an array. A read of a view is always a number. */
function viewOf({ buffer }: Uint8Array): DataView {
  return new DataView(buffer);
}
