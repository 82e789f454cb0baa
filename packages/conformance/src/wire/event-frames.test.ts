import { expect, it } from 'vitest';
import { eventFrames } from './event-frames.js';

async function framesIn(...chunks: readonly string[]): Promise<readonly string[]> {
  const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
  const frames: string[] = [];
  for await (const frame of eventFrames(body)) frames.push(frame);
  return frames;
}

it.each<readonly [string, readonly string[], readonly string[]]>([
  ['one frame per chunk', ['data: 1\n\n', 'data: 2\n\n'], ['1', '2']],
  ['several frames in a chunk', ['data: 1\n\ndata: 2\n\n'], ['1', '2']],
  ['a frame in pieces', ['da', 'ta: 1', '2\n', '\n'], ['12']],
  ['several lines of data', ['data: 1\ndata: 2\n\n'], ['1\n2']],
  ['carriage returns, also at the end of a chunk', ['data: 1\r', '\ndata: 2\r\n\r\n'], ['1\n2']],
  ['other fields and comments', [': hello\nid: 7\nevent: x\ndata:1\n\n', ': alive\n\n'], ['1']],
  ['a last frame without its empty line', ['data: 1\n\ndata: 2'], ['1', '2']],
])('reads %s', async (_, chunks, frames) => {
  expect(await framesIn(...chunks)).toEqual(frames);
});
