import { expect, test } from 'vitest';
import { toStandardBase64 } from './base64.js';

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
