import { expect, it } from 'vitest';
import { bytesInBase64, toBase64 } from './base64-bytes.js';

it.each([0, 1, 2, 3, 262_144])('%i bytes in base64 are counted as they are', (bytes) => {
  const text = toBase64(new Uint8Array(bytes));
  expect(bytesInBase64(text)).toBe(bytes);
  expect(bytesInBase64(text.replace(/=+$/, ''))).toBe(bytes);
});
