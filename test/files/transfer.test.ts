import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { BearerTokens } from '../../packages/parley/src/exports/auth.js';
import {
  FILES_EXTENSION,
  type FileStore,
  type FileTransferOptions,
  fileTransfer,
  memoryFileStore,
} from '../../packages/parley/src/exports/files.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server with files, and a call of its endpoint for files. */
async function serveFiles(files: Partial<FileTransferOptions> = {}, options: Partial<A2AServerOptions> = {}) {
  const store: FileStore = files.store ?? memoryFileStore();
  const server = createA2AServer({
    agent: async () => 'done',
    files: fileTransfer({ ...files, store }),
    ...options,
  } as A2AServerOptions);
  closers.push(() => server.close({ graceMs: 0 }));
  const { url: base } = await server.listen(0);
  const url = `${base.replace(/\/a2a.*$/, '')}`;
  const post = (body: RequestInit['body'], headers: Record<string, string> = {}, query = '') =>
    fetch(`${url}/a2a/files${query}`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
  return { url, store, post };
}

const sha256 = (bytes: Uint8Array | string) => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
const SCOPE = { agent: '/', tenant: '', owner: null };

describe('a file', () => {
  it('goes up and comes down', async () => {
    const { post } = await serveFiles();
    const bytes = randomBytes(300_000);
    const up = await post(bytes, {
      'content-type': 'application/octet-stream',
      'content-digest': sha256(bytes),
      'content-disposition': `attachment; filename="x"; filename*=UTF-8''r%C3%A9sum%C3%A9.bin`,
    });
    expect(up.status).toBe(201);
    const told = (await up.json()) as Record<string, unknown>;
    expect(told).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      filename: 'résumé.bin',
      mediaType: 'application/octet-stream',
      size: 300_000,
      digest: sha256(bytes),
      expiresAt: expect.stringMatching(/Z$/),
    });
    expect(up.headers.get('location')).toBe(told.url);
    const down = await fetch(String(told.url));
    expect(Object.fromEntries(down.headers)).toMatchObject({
      'content-length': '300000',
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="r_sum_.bin"; filename*=UTF-8''r%C3%A9sum%C3%A9.bin`,
      'content-digest': sha256(bytes),
      'repr-digest': sha256(bytes),
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect(Buffer.from(await down.arrayBuffer()).equals(bytes)).toBe(true);
    const head = await fetch(String(told.url), { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '300000', '']);
    expect((await fetch(String(told.url), { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(String(told.url))).status).toBe(404);
  });

  it('may come without a length', async () => {
    const { post } = await serveFiles();
    const stream = new Blob(['one ', 'two']).stream();
    const up = await post(stream, { 'content-type': 'text/plain' });
    expect(await up.json()).toMatchObject({ size: 7, mediaType: 'text/plain' });
  });

  it('is declared in the card', async () => {
    const { url } = await serveFiles({ maxBytes: 1234 });
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
      capabilities: { extensions: readonly { uri: string }[] };
    };
    expect(card.capabilities.extensions.find(({ uri }) => uri === FILES_EXTENSION)).toMatchObject({
      required: false,
      params: { url: `${url}/a2a/files`, maxBytes: 1234 },
    });
  });
});

describe('a download', () => {
  it('has ranges, and conditions', async () => {
    const { post } = await serveFiles();
    const { url } = (await (await post('0123456789')).json()) as { url: string };
    const get = async (headers: Record<string, string>) => {
      const answer = await fetch(url, { headers });
      return [answer.status, answer.headers.get('content-range'), await answer.text()];
    };
    const etag = (await fetch(url)).headers.get('etag') ?? '';
    expect(await get({ range: 'bytes=2-4' })).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await get({ range: 'bytes=7-' })).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await get({ range: 'bytes=-3' })).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await get({ range: 'bytes=8-100' })).toEqual([206, 'bytes 8-9/10', '89']);
    expect((await get({ range: 'bytes=10-' })).slice(0, 2)).toEqual([416, 'bytes */10']);
    expect((await get({ range: 'bytes=-0' })).slice(0, 2)).toEqual([416, 'bytes */10']);
    for (const range of ['bytes=4-2', 'bytes=0-1,3-4', 'items=0-1', 'bytes=a-b', 'bytes=-']) {
      expect(await get({ range })).toEqual([200, null, '0123456789']);
    }
    expect(await get({ range: 'bytes=2-4', 'if-range': etag })).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await get({ range: 'bytes=2-4', 'if-range': '"other"' })).toEqual([200, null, '0123456789']);
    expect(await get({ 'if-none-match': `"other", ${etag}` })).toEqual([304, null, '']);
    expect(await get({ 'if-none-match': '"other"' })).toEqual([200, null, '0123456789']);
    expect((await get({ 'if-match': '"other"' }))[0]).toBe(412);
    const head = await fetch(url, { method: 'HEAD', headers: { range: 'bytes=2-4' } });
    expect([head.status, head.headers.get('content-length')]).toEqual([206, '3']);
  });
});

describe('an upload is refused, and nothing is left,', () => {
  it.each([
    ['a wrong digest', 'hello', { 'content-digest': sha256('other') }, 400],
    ['a digest in no known form', 'hello', { 'content-digest': 'md5=abc' }, 400],
    ['too many bytes', 'x'.repeat(2000), {}, 413],
    ['a page as an image', '<!DOCTYPE html><script>1</script>', { 'content-type': 'image/png' }, 415],
    ['an SVG as an image', ' \n<!-- a --><svg onload="x">', { 'content-type': 'image/jpeg' }, 415],
    ['a type that is no type', 'hello', { 'content-type': 'x;y' }, 400],
  ])('for %s', async (_, body, headers, status) => {
    const { post, store } = await serveFiles({ maxBytes: 1000 });
    const answer = await post(body, headers as Record<string, string>);
    expect([answer.status, await store.usage(SCOPE)]).toEqual([status, { files: 0, bytes: 0 }]);
  });

  it('for fewer bytes than its length', async () => {
    const { url, store } = await serveFiles();
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    const ended = new Promise((resolve) => socket.on('close', resolve).on('error', () => {}));
    socket.write('POST /a2a/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhello');
    socket.end();
    socket.resume();
    await ended;
    expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
  });

  it('for a pause that is too long', async () => {
    const { url, store } = await serveFiles({ idleMs: 50 });
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.write('POST /a2a/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\nhello');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toContain('408 Request Timeout');
    expect(await store.usage(SCOPE)).toEqual({ files: 0, bytes: 0 });
  });

  it('for the quota of its owner', async () => {
    const { post } = await serveFiles({ ownerBytes: 10_000 });
    expect((await post('x'.repeat(8_000))).status).toBe(201);
    expect((await post('x'.repeat(8_000))).status).toBe(429);
  });

  it('for a page of another origin', async () => {
    const { post } = await serveFiles();
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await post('hello', headers)).status).toBe(403);
  });
});

describe('what a browser could run', () => {
  it.each([
    ['text/html', '<html>'],
    ['image/svg+xml', '<svg/>'],
    ['application/xml', '<?xml version="1.0"?><a/>'],
    ['text/javascript', 'alert(1)'],
    ['application/xhtml+xml', '<html xmlns="x"/>'],
  ])('is served as bytes: %s', async (type, body) => {
    const { post } = await serveFiles();
    const { url } = (await (await post(body, { 'content-type': type })).json()) as { url: string };
    const answer = await fetch(url);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
  });
});

describe('the files of a caller', () => {
  const authenticator = new BearerTokens([
    { token: 'ada-token-with-enough-length-0001', subject: 'ada' },
    { token: 'bob-token-with-enough-length-0002', subject: 'bob' },
  ]);
  const tenants = (user: { readonly id: string } | undefined, tenant: string) =>
    user?.id === 'bearer|ada' && tenant === 'north';
  const as = (name: string, at: number) => ({ authorization: `Bearer ${name}-token-with-enough-length-000${at}` });

  it('need a credential, and are not those of others', async () => {
    const { post } = await serveFiles({}, { authenticator });
    expect((await post('x')).status).toBe(401);
    const { url } = (await (await post('of ada', as('ada', 1))).json()) as { url: string };
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: as('bob', 2) })).status).toBe(404);
    expect((await fetch(url, { headers: as('bob', 2), method: 'DELETE' })).status).toBe(404);
    expect(await (await fetch(url, { headers: as('ada', 1) })).text()).toBe('of ada');
  });

  it('are those of a tenant that is granted', async () => {
    const { post } = await serveFiles({}, { authenticator, tenants } as Partial<A2AServerOptions>);
    const { url } = (await (await post('in north', as('ada', 1), '?tenant=north')).json()) as { url: string };
    expect(url).toMatch(/\?tenant=north$/);
    expect(await (await fetch(url, { headers: as('ada', 1) })).text()).toBe('in north');
    expect((await fetch(url.replace('?tenant=north', ''), { headers: as('ada', 1) })).status).toBe(404);
    expect((await fetch(url, { headers: as('bob', 2) })).status).toBe(404);
    expect((await post('x', as('bob', 2), '?tenant=north')).status).toBe(400);
  });
});
