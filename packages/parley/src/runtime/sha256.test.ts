import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { fingerprint, sha256 } from './sha256.js';

it.each(['', 'abc', 'höflich 🙂'])('the SHA-256 of %j is that of its UTF-8', async (text) => {
  const hex = createHash('sha256').update(text).digest('hex');
  expect(Buffer.from(await sha256(text)).toString('hex')).toBe(hex);
  expect(await fingerprint(text, 8)).toBe(hex.slice(0, 16));
});
