import { describe, expect, test } from 'vitest';
import { isTimestamp } from './timestamp.js';

describe('isTimestamp', () => {
  test('Spec §5.6.1: takes each day of the calendar and no other', () => {
    for (const year of [1, 4, 100, 400, 1900, 2000, 2023, 2024, 2100, 9999]) {
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) {
          const digits = (value: number, width: number) => String(value).padStart(width, '0');
          const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
          const instant = new Date(`${date}T00:00:00Z`);
          const exists = !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(date);
          expect(isTimestamp(`${date}T00:00:00Z`), date).toBe(exists);
        }
      }
    }
  });

  test('Spec §5.6.1: takes none to nine digits of a second', () => {
    for (let digits = 1; digits <= 9; digits++) {
      expect(isTimestamp(`2026-01-02T03:04:05.${'9'.repeat(digits)}Z`)).toBe(true);
    }
    expect(isTimestamp('2026-01-02T03:04:05Z')).toBe(true);
    expect(isTimestamp(`2026-01-02T03:04:05.${'9'.repeat(10)}Z`)).toBe(false);
  });

  test.each([
    '',
    '2026-01-02T24:00:00Z',
    '2026-01-02T23:60:00Z',
    '2026-01-02T23:59:60Z',
    '2026-01-02T03:04:05+00:00',
    '2026-01-02t03:04:05z',
    '2026-01-02 03:04:05Z',
    '2026-01-02T03:04:05',
    '2026-01-02T03:04Z',
    '26-01-02T03:04:05.00Z',
    '2026-01-02T03:04:05Z\n',
    '0000-01-02T03:04:05Z',
  ])('refuses %j', (text) => {
    expect(isTimestamp(text)).toBe(false);
  });

  test('is not slowed down by a long text', () => {
    expect(isTimestamp(`2026-01-02T03:04:05.${'1'.repeat(10_000_000)}Z`)).toBe(false);
  });
});
