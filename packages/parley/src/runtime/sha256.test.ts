import { createHash } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { fingerprint, sha256, sha256Hex } from './sha256.js';

it.each(['', 'abc', 'höflich 🙂'])('the SHA-256 of %j is that of its UTF-8', async (text) => {
  const hex = createHash('sha256').update(text).digest('hex');
  expect(Buffer.from(await sha256(text)).toString('hex')).toBe(hex);
  expect(await fingerprint(text, 8)).toBe(hex.slice(0, 16));
  expect(sha256Hex(text)).toBe(hex);
});

it('a host without a synchronous hash answers later, with the same digits', async () => {
  vi.stubGlobal('process', undefined);
  vi.resetModules();
  onTestFinished(() => void vi.unstubAllGlobals());
  const elsewhere = await import('./sha256.js');
  const digits = elsewhere.sha256Hex('abc');
  expect(digits).toBeInstanceOf(Promise);
  expect(await digits).toBe(createHash('sha256').update('abc').digest('hex'));
});
