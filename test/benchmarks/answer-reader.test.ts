import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerReader, type HttpAnswer } from '../../benchmarks/src/load/answer-reader.js';

const body = fc.string({ maxLength: 300, unit: fc.constantFrom('a', '{', '\r', '\n', '0', ' ') });

/** As a server would send it: with its length, or in chunks. */
const sent = fc.oneof(
  body.map((text) => ({ text, bytes: `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}` })),
  fc.array(body).map((pieces) => {
    const chunks = pieces.filter((text) => text !== '').map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
    const head = 'HTTP/1.1 200 OK\r\nDate: today\r\nTransfer-Encoding: chunked\r\n\r\n';
    return { text: pieces.join(''), bytes: `${head}${chunks.join('')}0\r\n\r\n` };
  }),
);

describe('the reader of answers', () => {
  it('reads one answer after the other, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(sent, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(400)), (answers, cuts) => {
        const reader = new AnswerReader();
        for (const { text, bytes } of answers) {
          const found: HttpAnswer[] = [];
          for (const piece of cutUp(Buffer.from(bytes), cuts)) {
            const answer = reader.push(piece);
            if (answer !== undefined) found.push(answer);
          }
          expect(found).toEqual([{ status: 200, body: text }]);
        }
      }),
    );
  });

  it.each([
    ['goes on after its end', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab'],
    ['goes on after its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx'],
    ['has no length', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'],
  ])('refuses an answer that %s', (_, bytes) => {
    expect(() => new AnswerReader().push(Buffer.from(bytes))).toThrow();
  });
});

function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.filter((cut) => cut > 0 && cut < bytes.length))].sort((a, b) => a - b);
  return [0, ...places].map((place, index) => bytes.subarray(place, places[index]));
}
