import { randomBytes } from 'node:crypto';
import { arrayBuffer } from 'node:stream/consumers';
import { downloadFile } from 'parley-a2a/client';
import { bearerToken } from 'parley-a2a/credentials';
import { describe, expect, it } from 'vitest';
import { clientAt } from './clients.js';
import { FileServer } from './file-server.js';

const bytesOf = async (body: ReadableStream<Uint8Array>) => Buffer.from(await arrayBuffer(body));

describe('downloadFile', () => {
  it('streams a file, tells its facts and reports progress', async () => {
    const content = randomBytes(300_000);
    const headers = { 'content-type': 'image/png', 'content-disposition': `attachment; filename*=UTF-8''a%20b.png` };
    await using server = await FileServer.start({ content, headers });
    const seen: number[] = [];
    const file = await downloadFile(await clientAt(server.url), `${server.url}/files/1`, {
      onProgress: ({ bytes, total }) => seen.push(bytes, total ?? 0),
    });
    expect(file).toMatchObject({
      mediaType: 'image/png',
      filename: 'a b.png',
      total: content.length,
      offset: 0,
      etag: '"v1"',
    });
    expect((await bytesOf(file.body)).equals(content)).toBe(true);
    expect(seen.slice(-2)).toEqual([content.length, content.length]);
  });

  it('continues where connections were cut, and gets no byte twice', async () => {
    const content = randomBytes(1_000_000);
    await using server = await FileServer.start({ content, cutAfter: (request) => (request < 5 ? 200_000 : 1e9) });
    const file = await downloadFile(await clientAt(server.url), { url: `${server.url}/files/1` });
    expect((await bytesOf(file.body)).equals(content)).toBe(true);
    expect(server.requests.map(({ headers }) => headers.range)).toEqual([
      undefined,
      'bytes=200000-',
      'bytes=400000-',
      'bytes=600000-',
      'bytes=800000-',
    ]);
    expect(server.requests[1]?.headers['if-range']).toBe('"v1"');
    expect(server.sent).toBe(content.length);
  });

  it('fails after attempts in a row without a byte', async () => {
    const content = randomBytes(1000);
    await using server = await FileServer.start({ content, cutAfter: (request) => (request === 1 ? 500 : 0) });
    const file = await downloadFile(await clientAt(server.url), `${server.url}/f`, { attempts: 2 });
    await expect(bytesOf(file.body)).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(server.requests).toHaveLength(3);
  });

  it('fails if the file changes meanwhile, and if its validator is weak', async () => {
    await using server = await FileServer.start({ content: randomBytes(1000), cutAfter: () => 500 });
    server.behaviour.answer = () => {
      if (server.requests.length > 1) server.behaviour.etag = '"v2"';
      return false;
    };
    const file = await downloadFile(await clientAt(server.url), `${server.url}/f`);
    await expect(bytesOf(file.body)).rejects.toThrow('The file changed while it was downloaded');
    await using weak = await FileServer.start({ content: randomBytes(1000), cutAfter: () => 500, etag: 'W/"v1"' });
    const other = await downloadFile(await clientAt(weak.url), `${weak.url}/f`);
    await expect(bytesOf(other.body)).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(weak.requests).toHaveLength(1);
  });

  it('continues an earlier download, begins anew if the file changed, and ends at once if all is there', async () => {
    const content = randomBytes(1000);
    await using server = await FileServer.start({ content });
    const client = await clientAt(server.url);
    const from = (etag: string, bytes: number) => ({
      from: { etag, bytes, content: new Blob([content.subarray(0, bytes)]).stream() as AsyncIterable<Uint8Array> },
    });
    const rest = await downloadFile(client, `${server.url}/f`, from('"v1"', 400));
    expect(rest.offset).toBe(400);
    expect((await bytesOf(rest.body)).equals(content.subarray(400))).toBe(true);
    const anew = await downloadFile(client, `${server.url}/f`, from('"v0"', 400));
    expect(anew.offset).toBe(0);
    expect((await bytesOf(anew.body)).equals(content)).toBe(true);
    const done = await downloadFile(client, `${server.url}/f`, from('"v1"', 1000));
    expect(done.offset).toBe(1000);
    expect(await bytesOf(done.body)).toEqual(Buffer.alloc(0));
  });

  it('finds content that does not fit the digest: of the server, of the caller, of an earlier part', async () => {
    const content = randomBytes(1000);
    await using server = await FileServer.start({ content });
    const client = await clientAt(server.url);
    const wrong = {
      etag: '"v1"',
      bytes: 400,
      content: new Blob([randomBytes(400)]).stream() as AsyncIterable<Uint8Array>,
    };
    for (const options of [{ digest: '0'.repeat(64) }, { from: wrong }]) {
      const file = await downloadFile(client, `${server.url}/f`, options);
      await expect(bytesOf(file.body)).rejects.toThrow('does not fit its digest');
    }
    server.behaviour.content = randomBytes(1000);
    const file = await downloadFile(client, `${server.url}/f`);
    await expect(bytesOf(file.body)).rejects.toThrow('does not fit its digest');
  });

  it('takes no file above the limit, told or not', async () => {
    await using server = await FileServer.start({ content: randomBytes(1000) });
    const client = await clientAt(server.url);
    const options = { maxBytes: 999 };
    await expect(downloadFile(client, `${server.url}/f`, options)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    server.behaviour.answer = (_, response) => {
      response.writeHead(200).write(server.behaviour.content);
      response.end();
      return true;
    };
    const file = await downloadFile(client, `${server.url}/f`, options);
    expect(file.total).toBeUndefined();
    await expect(bytesOf(file.body)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('ends with the reason of the signal, before the answer and within the file', async () => {
    await using server = await FileServer.start({ answer: () => true });
    const client = await clientAt(server.url);
    const before = new AbortController();
    const waiting = downloadFile(client, `${server.url}/f`, { signal: before.signal });
    before.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    server.behaviour.answer = (_, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('12345');
      return true;
    };
    const within = new AbortController();
    const file = await downloadFile(client, `${server.url}/f`, { signal: within.signal });
    const reading = bytesOf(file.body);
    within.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  it('does not wait for ever for a silent server', async () => {
    const content = randomBytes(1000);
    await using server = await FileServer.start({ content });
    server.behaviour.answer = (_, response) => {
      if (server.requests.length > 1) return false;
      response.writeHead(200, { 'content-length': 1000, etag: '"v1"' }).write(content.subarray(0, 500));
      return true;
    };
    const file = await downloadFile(await clientAt(server.url), `${server.url}/f`, { idleMs: 200 });
    expect((await bytesOf(file.body)).equals(content)).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  it('makes errors of what the server answers', async () => {
    await using server = await FileServer.start();
    const client = await clientAt(server.url);
    for (const [status, code] of [
      [401, 'UNAUTHENTICATED'],
      [403, 'PERMISSION_DENIED'],
      [404, 'INVALID_REQUEST'],
      [507, 'RESOURCE_EXHAUSTED'],
    ] as const) {
      server.behaviour.answer = (_, response) => {
        response.writeHead(status).end(JSON.stringify({ error: { message: 'the reason' } }));
        return true;
      };
      await expect(downloadFile(client, `${server.url}/f`)).rejects.toMatchObject({ code });
    }
  });
});

describe('the origin of a file', () => {
  it('gets credentials only if it is that of the agent, also after a redirect', async () => {
    await using server = await FileServer.start();
    await using other = await FileServer.start();
    const client = await clientAt(server.url, { credentials: bearerToken('secret') });
    await bytesOf((await downloadFile(client, `${server.url}/f`)).body);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer secret');
    await expect(downloadFile(client, `${other.url}/f`)).rejects.toMatchObject({ name: 'RefusedAddressError' });
    server.behaviour.answer = (_, response) => {
      response.writeHead(302, { location: `${other.url}/f` }).end();
      return true;
    };
    await expect(downloadFile(client, `${server.url}/f`)).rejects.toMatchObject({ name: 'RefusedAddressError' });
    expect(other.requests).toEqual([]);
    const otherOrigins = (url: string, init: RequestInit) => fetch(url, init);
    await bytesOf((await downloadFile(client, `${server.url}/f`, { otherOrigins })).body);
    expect(other.requests).toHaveLength(1);
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
  });

  it.each(['file:///etc/passwd', 'data:text/plain,x', 'nonsense'])('%s is no place of a file', async (url) => {
    await using server = await FileServer.start();
    await expect(downloadFile(await clientAt(server.url), url)).rejects.toThrow('no http or https url');
  });
});
