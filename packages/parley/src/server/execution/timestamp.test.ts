import fc from 'fast-check';
import { expect, it } from 'vitest';
import { timestampAt } from './timestamp.js';

it('writes every time as it is, whatever was asked for before', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });
  fc.assert(
    fc.property(fc.array(time), fc.array(fc.nat()), (times, picks) => {
      for (const ms of [...times, ...picks.flatMap((pick) => times[pick % times.length] ?? [])]) {
        expect(timestampAt(ms)).toBe(new Date(ms).toISOString());
        expect(timestampAt(ms)).toBe(new Date(ms).toISOString());
      }
    }),
  );
});
