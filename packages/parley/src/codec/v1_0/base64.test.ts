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
