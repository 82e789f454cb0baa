import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { PortableDigester } from './portable-digester.js';

const content = Uint8Array.from({ length: 5_000 }, (_, at) => (at * 31 + (at >> 3)) % 256);
const expectedDigest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('base64');

it('digests every length around its blocks', () => {
  for (const size of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1_000, 5_000]) {
    const digester = new PortableDigester();
    digester.update(content.subarray(0, size));
    expect(digester.digest()).toBe(expectedDigest(content.subarray(0, size)));
  }
});

it('digests chunks of every size', () => {
  for (const step of [1, 7, 63, 64, 65, 1_000]) {
    const digester = new PortableDigester();
    for (let at = 0; at < content.length; at += step) digester.update(content.subarray(at, at + step));
    expect(digester.digest()).toBe(expectedDigest(content));
  }
});

it('keeps no chunk: its memory may be used again', () => {
  const digester = new PortableDigester();
  const chunk = content.slice(0, 100);
  digester.update(chunk);
  chunk.fill(0);
  digester.update(content.subarray(100, 200));
  expect(digester.digest()).toBe(expectedDigest(content.subarray(0, 200)));
});
