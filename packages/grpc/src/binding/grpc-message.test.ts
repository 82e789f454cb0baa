import { expect, it } from 'vitest';
import { frameMessages, MessageReader } from './grpc-message.js';

/** The bytes 0 to 255, again and again. */
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, at) => at % 256);

it.each([
  ['bytes', () => 1],
  ['small and large chunks', (at: number) => (at % 3 === 0 ? 3_000 : 7)],
  ['chunks as large as a block', (at: number) => (at % 2 === 0 ? 1_023 : 1_024)],
  ['one chunk', () => 1_000_000],
])('a message is read from %s', (_, sizeOf) => {
  const sent = bytesOf(40_000);
  const all = frameMessages([sent]);
  const reader = new MessageReader();
  for (let at = 0, count = 0; at < all.length; count++) {
    const chunk = all.subarray(at, at + sizeOf(count));
    // Its memory is used again.
    const own = Buffer.from(chunk);
    reader.push(own);
    if (chunk.length < 1_000 && count > 0) own.fill(0);
    at += chunk.length;
  }
  expect(reader.isWhole).toBe(true);
  expect(Buffer.compare(reader.take(), sent)).toBe(0);
});

it('several messages are read from chunks that cut them anywhere', () => {
  const messages = [bytesOf(3), bytesOf(0), bytesOf(2_000), bytesOf(20)];
  const all = frameMessages(messages);
  for (const size of [1, 5, 11, 1_500]) {
    const reader = new MessageReader();
    const read: Buffer[] = [];
    for (let at = 0; at < all.length; at += size) {
      reader.push(all.subarray(at, at + size));
      while (reader.isWhole) read.push(reader.next());
    }
    expect(read.map((one) => Buffer.compare(one, messages[read.indexOf(one)] ?? Buffer.alloc(1)))).toEqual([
      0, 0, 0, 0,
    ]);
  }
});
