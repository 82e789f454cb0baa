import { describe, expect, it } from 'vitest';
import { chunksOf, fromWire, toWire, toWireFromText } from './wire-values.js';

const fault = (description: string) => new Error(description);
const options = { streamBytes: 1_000_000, fault };
const text = (length: number) => Buffer.alloc(length, 'parley').toString('base64');

describe('values of a client of Cap’n Web', () => {
  it('a value without files and reserved names is not copied', () => {
    const message = { message: { parts: [{ text: 'a' }, { data: { raw: 'text' } }], metadata: { x: [1] } } };
    expect(toWire(message)).toBe(message);
    expect(fromWire(message, options)).toBe(message);
  });

  it('file content travels as bytes', () => {
    const part = { parts: [{ raw: text(20), mediaType: 'a/b' }] };
    const wire = toWire(part) as { parts: { raw: Uint8Array }[] };
    expect(wire.parts[0]?.raw).toBeInstanceOf(Uint8Array);
    expect(fromWire(wire, options)).toEqual(part);
  });

  it('long file content travels as a stream of small chunks', async () => {
    const part = { parts: [{ text: 'before' }, { raw: text(300_000) }, { raw: text(10) }] };
    const wire = toWire(part) as { parts: { raw: ReadableStream }[] };
    expect(wire.parts[1]?.raw).toBeInstanceOf(ReadableStream);
    expect(await fromWire(wire, options)).toEqual(part);
  });

  it('base64 is taken as it is', () => {
    const part = { parts: [{ raw: text(3) }] };
    expect(fromWire(part, options)).toBe(part);
  });

  it('names of every object, and names with the escape, arrive as they were sent', () => {
    const sent = JSON.parse(
      '{"metadata":{"constructor":1,"__proto__":{"toString":[{"toJSON":2}]},"~x":3,"~~":4,"hasOwnProperty":null}}',
    );
    const wire = toWire(sent);
    expect(JSON.stringify(wire)).toBe(
      '{"metadata":{"~constructor":1,"~__proto__":{"~toString":[{"~toJSON":2}]},"~~x":3,"~~~":4,"~hasOwnProperty":null}}',
    );
    expect(JSON.stringify(fromWire(wire, options))).toBe(JSON.stringify(sent));
  });

  it('a text becomes the same value', () => {
    for (const name of [...Object.getOwnPropertyNames(Object.prototype), 'toJSON'])
      expect(toWireFromText(`{"${name}":1}`)).toEqual({ [`~${name}`]: 1 });
    for (const value of [
      { parts: [{ text: 'raw "raw" ~' }, { data: { x: '~' } }], metadata: {} },
      { parts: [{ raw: text(20) }] },
      JSON.parse('{"metadata":{"constructor":1,"__proto__":2,"~x":3}}'),
    ]) {
      expect(toWireFromText(JSON.stringify(value))).toEqual(toWire(value));
    }
  });

  it('absent members are not sent', () => {
    expect(Object.keys(toWire({ a: undefined, b: 1, c: undefined }) as object)).toEqual(['b']);
  });

  it.each([
    ['a function', { metadata: { x: () => 1 } }],
    ['bytes in metadata', { metadata: { raw: new Uint8Array(3) } }],
    ['a stream in place of a message', { message: new ReadableStream() }],
  ])('%s is refused', (_, value) => {
    expect(() => fromWire(value, options)).toThrow(/only|not data/);
  });

  it('a stream over the limit is refused and cancelled', async () => {
    let isCancelled = false;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => {
        isCancelled = true;
      },
    });
    await expect(fromWire({ raw: endless }, { streamBytes: 100, fault })).rejects.toThrow('too long');
    expect(isCancelled).toBe(true);
  });

  it('a stream of something else is refused', async () => {
    const stream = new ReadableStream({ start: (controller) => controller.enqueue('text') });
    await expect(fromWire({ raw: stream }, options)).rejects.toThrow('bytes only');
  });

  it('the bytes of a stream are copies', async () => {
    const bytes = new Uint8Array(200_000).fill(7);
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOf(bytes)) chunks.push(chunk);
    expect(chunks.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 3_392]);
    expect(chunks.every(({ buffer, length }) => buffer.byteLength === length)).toBe(true);
  });
});
