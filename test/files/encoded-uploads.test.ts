import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type FileTransferOptions, fileTransfer } from '../../packages/parley/src/exports/files.js';
import { createA2AServer } from '../../packages/parley/src/exports/node.js';
import { systemClock, systemIds } from '../../packages/parley/src/exports/runtime.js';
import { DirectoryFileStore } from '../../packages/parley/src/files/directory/directory-file-store.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serveFiles(files: Partial<FileTransferOptions> = {}) {
  const path = mkdtempSync(join(tmpdir(), 'parley-encoded-'));
  closers.push(() => rmSync(path, { recursive: true, force: true }));
  const store = new DirectoryFileStore({ path, clock: systemClock, ids: systemIds });
  const server = createA2AServer({ agent: async () => 'done', files: fileTransfer({ store, ...files }) });
  closers.push(() => server.close({ graceMs: 0 }));
  const { origin } = new URL((await server.listen(0)).url);
  const send = (body: Uint8Array | AsyncIterable<Uint8Array>, headers: Record<string, string>, url = '/a2a/files') =>
    fetch(new URL(url, origin), {
      method: 'POST',
      body: body instanceof Uint8Array ? body : Readable.toWeb(Readable.from(body)),
      headers: { 'content-type': 'application/octet-stream', ...headers },
      duplex: 'half',
    } as RequestInit);
  /** Names of all files of the store. */
  const listFiles = () => readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return { origin, send, listFiles };
}

const sha256 = (bytes: Uint8Array) => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
const gzip = { 'content-encoding': 'gzip' };
const noise = randomBytes(700_000);
const text = Buffer.from('Files in gzip. '.repeat(20_000));

describe('an upload with a content coding', () => {
  it.each<[string, Buffer, Buffer]>([
    ['a text', gzipSync(text), text],
    ['random bytes', gzipSync(noise), noise],
    ['several members', Buffer.concat([gzipSync('one '), gzipSync('two')]), Buffer.from('one two')],
    ['nothing', gzipSync(''), Buffer.alloc(0)],
  ])('is stored as its decoded bytes: %s', async (_name, encoded, decoded) => {
    const { send, listFiles } = await serveFiles();
    for (const headers of [gzip, { 'content-encoding': 'identity, X-GZIP' }]) {
      const sent = await send(encoded, { ...headers, 'content-digest': sha256(encoded) });
      expect([sent.status, await sent.clone().text()]).toEqual([201, expect.stringContaining('url')]);
      const file = (await sent.json()) as { url: string; size: number; digest: string };
      expect([file.size, file.digest]).toEqual([decoded.length, sha256(decoded)]);
      const read = await fetch(file.url);
      expect(read.headers.get('content-encoding')).toBeNull();
      expect(Buffer.from(await read.arrayBuffer()).equals(decoded)).toBe(true);
    }
    expect(listFiles().length).toBeGreaterThan(0);
  });

  it('passes as it is with identity', async () => {
    const { send } = await serveFiles();
    for (const coding of ['identity', 'IDENTITY', ' , identity']) {
      const sent = await send(text, { 'content-encoding': coding });
      expect([sent.status, ((await sent.json()) as { size: number }).size]).toEqual([201, text.length]);
    }
  });

  it.each(['br', 'deflate', 'zstd', 'x-odd', 'gzip, gzip', 'gzip, br', '"gzip"'])(
    'of %s is refused with 415 and the list of what is taken, and leaves nothing',
    async (coding) => {
      const { send, listFiles } = await serveFiles();
      const answer = await send(brotliCompressSync(text), { 'content-encoding': coding });
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'gzip, identity']);
      expect(await answer.json()).toMatchObject({ error: { code: 415, message: expect.stringContaining('gzip') } });
      expect(listFiles()).toEqual([]);
    },
  );

  it.each<[string, Buffer, Record<string, string>, RegExp]>([
    ['that is no gzip', text, {}, /is no gzip/],
    ['that breaks off', gzipSync(text).subarray(0, -9), {}, /is no gzip/],
    [
      'with a wrong checksum',
      Buffer.concat([gzipSync(text).subarray(0, -8), Buffer.alloc(4), gzipSync(text).subarray(-4)]),
      {},
      /is no gzip/,
    ],
    [
      'of nothing but junk after a header',
      Buffer.concat([gzipSync('a').subarray(0, 10), Buffer.alloc(99, 255)]),
      {},
      /is no gzip/,
    ],
    ['of no bytes', Buffer.alloc(0), {}, /is no gzip/],
    ['with the digest of its decoded bytes', gzipSync(text), { 'content-digest': sha256(text) }, /SHA-256/],
  ])('%s is refused and leaves nothing', async (_name, body, headers, message) => {
    const { send, listFiles } = await serveFiles();
    const answer = await send(body, { ...gzip, ...headers });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { message: string } }).error.message).toMatch(message);
    expect(listFiles()).toEqual([]);
  });

  it('has the limit of a file before and after it is decoded', async () => {
    const { send, listFiles } = await serveFiles({ maxBytes: 100_000 });
    const answers = [
      await send(gzipSync(Buffer.alloc(100_001)), gzip),
      await send(randomBytes(100_001), gzip),
      // Empty members: much to read, nothing to store.
      await send(Buffer.concat(Array.from({ length: 6_000 }, () => gzipSync(''))), gzip),
      await send(
        (async function* () {
          for (let at = 0; at < 6_000; at++) yield gzipSync('');
        })(),
        gzip,
      ),
    ];
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 413]);
    expect(listFiles()).toEqual([]);
    expect((await send(gzipSync(Buffer.alloc(100_000)), gzip)).status).toBe(201);
  });

  it('costs no memory beyond the limit, if it is a bomb', async () => {
    const { send, listFiles } = await serveFiles({ maxBytes: 1_048_576 });
    // 200 KiB that would become 200 MiB.
    const bomb = gzipSync(Buffer.alloc(200 * 1_048_576));
    expect(bomb.length).toBeLessThan(524_288);
    const before = process.memoryUsage();
    let most = 0;
    const look = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 1);
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(bomb, gzip)));
    clearInterval(look);
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(413));
    expect(most - before.rss).toBeLessThan(256 * 1_048_576);
    expect(listFiles()).toEqual([]);
  });

  it('in several requests takes no coding', async () => {
    const { send, origin } = await serveFiles();
    const begun = await send(new Uint8Array(), { 'upload-length': '10', 'tus-resumable': '1.0.0' });
    const url = begun.headers.get('location') ?? '';
    const append = (headers: Record<string, string>) =>
      fetch(new URL(url, origin), {
        method: 'PATCH',
        body: gzipSync('0123456789').subarray(0, 10),
        headers: { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0', ...headers },
      });
    const refused = await append(gzip);
    expect([refused.status, refused.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect((await append({})).status).toBe(200);
  });
});
