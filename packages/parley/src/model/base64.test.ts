import { describe, expect, test } from 'vitest';
import { isBase64, toStandardBase64 } from './base64.js';

describe('isBase64', () => {
  test('agrees with an encoder on every length and every byte', () => {
    for (let length = 0; length < 70; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length) % 256);
      expect(isBase64(Buffer.from(bytes).toString('base64'))).toBe(true);
    }
    const every = Uint8Array.from({ length: 256 }, (_, i) => i);
    expect(isBase64(Buffer.from(every).toString('base64'))).toBe(true);
  });

  test('takes exactly the 64 signs of the standard alphabet', () => {
    const taken = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)).filter((sign) =>
      isBase64(`AA${sign}A`),
    );
    expect(taken.join('')).toBe('+/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
  });

  test.each(['A', 'AA', 'AAA', 'AA=', '=', '==', '====', 'A===', 'AA==AAAA', 'AAAA\n', ' AAA', 'AA-_'])(
    'refuses %j',
    (text) => {
      expect(isBase64(text)).toBe(false);
    },
  );

  test('takes 10 MB, and finds the one wrong sign at its end', () => {
    const large = 'QUJD'.repeat(2_500_000);
    expect(isBase64(large)).toBe(true);
    expect(isBase64(`${large}AA?=`)).toBe(false);
  });
});

test('base64 without padding, in the URL-safe alphabet, becomes standard for every length', () => {
  for (let length = 0; length < 20; length++) {
    const bytes = Buffer.from(Uint8Array.from({ length }, (_, i) => 0xfb + (i % 5)));
    expect(toStandardBase64(bytes.toString('base64url'))).toBe(bytes.toString('base64'));
    expect(toStandardBase64(bytes.toString('base64'))).toBe(bytes.toString('base64'));
  }
});

test.each(['A', 'AAAAA', 'AA=', '='])('%j, which lacks bits or half of its padding, is not completed', (text) => {
  expect(toStandardBase64(text)).toBe(text);
});

test('only the two signs of the URL-safe alphabet are replaced', () => {
  const every = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('');
  for (let start = 0; start < 4; start++) {
    const text = every.slice(start);
    expect(toStandardBase64(text)).toBe(
      text.replace('-', '+').replace('_', '/') + '='.repeat([0, 0, 2, 1][text.length % 4] ?? 0),
    );
  }
});

test.each(['-_äA', '-_世AAAAA', '-_\ud800A', '-_😀'])('%j, which is not ASCII, stays as it is', (text) => {
  expect(toStandardBase64(text)).toBe(text);
});
