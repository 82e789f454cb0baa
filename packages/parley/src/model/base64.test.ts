import { describe, expect, test } from 'vitest';
import { isBase64 } from './base64.js';

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
