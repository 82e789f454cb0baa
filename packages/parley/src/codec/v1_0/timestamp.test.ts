import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toUtc } from './timestamp.js';

test('any offset gives the same instant in UTC, with its fraction as it was', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0002-01-01'), max: new Date('9998-12-31'), noInvalidDate: true }),
      fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }),
      fc.stringMatching(/^(\.\d{1,9})?$/),
      (date, offset, fraction) => {
        const local = new Date(Math.floor(date.getTime() / 1000) * 1000 + offset * 60_000).toISOString().slice(0, 19);
        const hours = String(Math.trunc(Math.abs(offset) / 60)).padStart(2, '0');
        const minutes = String(Math.abs(offset) % 60).padStart(2, '0');
        const utc = new Date(Math.floor(date.getTime() / 1000) * 1000).toISOString().slice(0, 19);
        expect(toUtc(`${local}${fraction}${offset < 0 ? '-' : '+'}${hours}:${minutes}`)).toBe(`${utc}${fraction}Z`);
      },
    ),
  );
});

test.each([
  '2026-02-30T00:00:00+01:00',
  '2026-01-01T24:00:00+01:00',
  '2026-01-01T00:00:00',
  '2026-01-01T00:00:00+0100',
  '2026-01-01T00:00:00+24:00',
  'now',
  '',
])('%j is no timestamp and stays what it is', (text) => {
  expect(toUtc(text)).toBe(text);
});
