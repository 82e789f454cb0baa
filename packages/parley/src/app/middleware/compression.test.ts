import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MemoryRequest, textOf } from '../../../test/exchange-request.js';
import { webCompressor } from '../../adapters/fetch/web-compressor.js';
import { nodeCompressor } from '../../adapters/node/node-compressor.js';
import { beginRecord } from '../../bindings/http/call-record.js';
import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import { isOption } from '../../options/check-options.js';
import { type Compressor, compressionSchema, withCompression } from './compression.js';

const LONG = JSON.stringify({ text: 'a long text, '.repeat(200) });
const JSON_TYPE = { 'content-type': 'application/json' };

function ask(
  answer: Partial<ExchangeResponse>,
  { accept = 'gzip', method = 'GET', compressor = nodeCompressor({}) as Compressor } = {},
): Promise<ExchangeResponse> {
  const exchange = withCompression(async () => ({ status: 200, headers: JSON_TYPE, body: LONG, ...answer }), {
    compressor,
    minimumLength: 1024,
  });
  return exchange(new MemoryRequest({ method, ...(accept !== '' && { headers: { 'accept-encoding': accept } }) }));
}

const decodeBody = ({ headers, body }: ExchangeResponse) =>
  String(
    headers['content-encoding'] === 'br' ? brotliDecompressSync(body as Uint8Array) : gunzipSync(body as Uint8Array),
  );

describe('a long answer', () => {
  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.1, gzip;q=0.2', 'gzip'],
  ])('goes out in the form preferred: %s', async (accept, encoding) => {
    const answer = await ask({}, { accept });
    expect(answer.headers).toEqual({ ...JSON_TYPE, vary: 'Accept-Encoding', 'content-encoding': encoding });
    expect(decodeBody(answer)).toBe(LONG);
    expect((answer.body as Uint8Array).length).toBeLessThan(LONG.length / 10);
  });

  it.each(['', 'identity', 'gzip;q=0', 'deflate'])(
    'goes out as it is, where "%s" is accepted; caches know',
    async (accept) => {
      expect(await ask({}, { accept })).toEqual({
        status: 200,
        headers: { ...JSON_TYPE, vary: 'Accept-Encoding' },
        body: LONG,
      });
    },
  );

  it('in bytes is compressed as well, and errors are', async () => {
    expect(decodeBody(await ask({ body: new TextEncoder().encode(LONG), status: 500 }))).toBe(LONG);
  });

  it('keeps a weak tag, weakens a strong one, and no longer offers parts of itself', async () => {
    const tagOf = async (etag: string) => (await ask({ headers: { ...JSON_TYPE, etag } })).headers.etag;
    expect(await tagOf('W/"a"')).toBe('W/"a"');
    expect(await tagOf('"a"')).toBe('W/"a"');
    const { headers } = await ask({ headers: { ...JSON_TYPE, 'accept-ranges': 'bytes', 'content-length': '99' } });
    expect(headers).not.toHaveProperty('accept-ranges');
    expect(headers).not.toHaveProperty('content-length');
  });

  it('is the same for HEAD, so that its headers are those of GET', async () => {
    const [get, head] = [await ask({}), await ask({}, { method: 'HEAD' })];
    expect(head.headers).toEqual(get.headers);
    expect((head.body as Uint8Array).length).toBe((get.body as Uint8Array).length);
  });

  it('that does not get shorter goes out as it is', async () => {
    const compressor: Compressor = { encodings: ['gzip'], compress: async () => new Uint8Array(LONG.length) };
    const answer = await ask({}, { compressor });
    expect(answer).toEqual({ status: 200, headers: { ...JSON_TYPE, vary: 'Accept-Encoding' }, body: LONG });
  });

  it('goes out as it is when compression fails', async () => {
    const compressor: Compressor = { encodings: ['gzip'], compress: () => Promise.reject(new Error('no memory')) };
    expect((await ask({}, { compressor })).body).toBe(LONG);
  });
});

describe('never compressed is', () => {
  const extendedCard = beginRecord('JSONRPC');
  extendedCard.operation = 'getExtendedAgentCard';
  it.each<[string, Partial<ExchangeResponse>]>([
    ['a short answer', { body: 'x'.repeat(1024) }],
    ['an event stream', { headers: { 'content-type': 'text/event-stream' }, body: `data: ${LONG}\n\n` }],
    ['a card', { verbatim: true }],
    ['an extended card', { call: extendedCard }],
    ['what is compressed already', { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }],
    ['a picture', { headers: { 'content-type': 'image/png' } }],
    ['a part', { status: 206, headers: { ...JSON_TYPE, 'content-range': 'bytes 0-1/2' } }],
    ['what nobody may transform', { headers: { ...JSON_TYPE, 'cache-control': 'no-cache, no-transform' } }],
  ])('%s', async (_, answer) => {
    const whole = { status: 200, headers: JSON_TYPE, body: LONG, ...answer };
    expect(await ask(answer)).toEqual(whole);
  });

  it('an open stream', async () => {
    async function* frames() {
      yield LONG;
    }
    const answer = await ask({ headers: { 'content-type': 'text/event-stream' }, body: frames() });
    expect(answer.headers).toEqual({ 'content-type': 'text/event-stream' });
    expect(await textOf(answer)).toBe(LONG);
  });

  it('what has not changed; it depends on the same as what it stands for', async () => {
    const empty = { status: 304, headers: { etag: 'W/"a"' }, body: undefined } as unknown as ExchangeResponse;
    expect((await ask(empty)).headers).toEqual({ etag: 'W/"a"', vary: 'Accept-Encoding' });
    expect((await ask({ ...empty, verbatim: true })).headers).toEqual({ etag: 'W/"a"' });
  });
});

describe('hosts of the web', () => {
  it('compress by their streams', async () => {
    const compressor = webCompressor();
    expect(compressor.encodings).toContain('gzip');
    for (const encoding of compressor.encodings) {
      expect(decodeBody(await ask({}, { compressor, accept: encoding }))).toBe(LONG);
      expect(decodeBody(await ask({ body: new TextEncoder().encode(LONG) }, { compressor, accept: encoding }))).toBe(
        LONG,
      );
    }
  });

  it('compress nothing where they have none', async () => {
    const own = globalThis.CompressionStream;
    try {
      Object.assign(globalThis, { CompressionStream: undefined });
      const compressor = webCompressor();
      expect(compressor.encodings).toEqual([]);
      expect((await ask({}, { compressor })).body).toBe(LONG);
    } finally {
      Object.assign(globalThis, { CompressionStream: own });
    }
  });
});

it('a level makes a difference', async () => {
  const text = Array.from({ length: 3000 }, (_, at) => `${(at * 7919) % 1000} ${(at * 104729) % 977}`).join(' ');
  const sizeAt = async (options: object, accept: string) =>
    ((await ask({ body: text }, { compressor: nodeCompressor(options), accept })).body as Uint8Array).length;
  expect(await sizeAt({ gzipLevel: 9 }, 'gzip')).toBeLessThan(await sizeAt({ gzipLevel: 1 }, 'gzip'));
  expect(await sizeAt({ brotliQuality: 9 }, 'br')).toBeLessThan(await sizeAt({ brotliQuality: 0 }, 'br'));
});

it.each([
  [true, true],
  [false, true],
  [{}, true],
  [{ gzipLevel: 9, brotliQuality: 0, minimumLength: 0 }, true],
  [{ gzipLevel: 10 }, false],
  [{ brotliQuality: 12 }, false],
  [{ minimumLength: -1 }, false],
  [{ level: 6 }, false],
  ['gzip', false],
])('the option %j is right: %s', (option, right) => {
  expect(isOption(compressionSchema, option)).toBe(right);
});
