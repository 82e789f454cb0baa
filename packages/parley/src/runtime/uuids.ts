import type { IdSource } from './id-source.js';

/** Options of `uuids`. */
export interface UuidOptions {
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
  const high = Uint8Array.from({ length: 256 }, (_, byte) => digits.charCodeAt(byte >> 4));
  const low = Uint8Array.from({ length: 256 }, (_, byte) => digits.charCodeAt(byte & 15));
  const pool = new Uint8Array(POOL);
  let used = POOL;
  let time = 0;
  let count = 0;

  const made = (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number): string => {
    if (used === POOL) refill();
    const i = ((pool[used] ?? 0) & 0x3f) | 0x80;
    const j = pool[used + 1] ?? 0;
    const k = pool[used + 2] ?? 0;
    const l = pool[used + 3] ?? 0;
    const m = pool[used + 4] ?? 0;
    const n = pool[used + 5] ?? 0;
    const o = pool[used + 6] ?? 0;
    const p = pool[used + 7] ?? 0;
    used += 8;
    // biome-ignore format: the groups of the id
    return String.fromCharCode(
      code(high, a), code(low, a), code(high, b), code(low, b),
      code(high, c), code(low, c), code(high, d), code(low, d), HYPHEN,
      code(high, e), code(low, e), code(high, f), code(low, f), HYPHEN,
      code(high, g), code(low, g), code(high, h), code(low, h), HYPHEN,
      code(high, i), code(low, i), code(high, j), code(low, j), HYPHEN,
      code(high, k), code(low, k), code(high, l), code(low, l), code(high, m), code(low, m),
      code(high, n), code(low, n), code(high, o), code(low, o), code(high, p), code(low, p),
    );
  };
  const refill = (): void => {
    fill(pool);
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
      return made(
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
      return made(
        pool[at] ?? 0,
        pool[at + 1] ?? 0,
        pool[at + 2] ?? 0,
        pool[at + 3] ?? 0,
        pool[at + 4] ?? 0,
        pool[at + 5] ?? 0,
        ((pool[at + 6] ?? 0) & 0x0f) | 0x40,
        pool[at + 7] ?? 0,
      );
    },
  };
}

function code(table: Uint8Array, byte: number): number {
  return table[byte] ?? 0;
}
