import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { checkedPosts } from '../../packages/parley/src/adapters/node/checked-posts.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { Destinations } from '../../packages/parley/src/net/destinations.js';

async function serveListener(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port, [Symbol.asyncDispose]: close };
}

/** Posts, and a resolver that leads each name to this machine. */
function postsTo(allow: readonly string[]) {
  const names: string[] = [];
  const lookup = async (name: string) => {
    names.push(name);
    return [{ address: '127.0.0.1', family: 4 }];
  };
  const send = checkedPosts(new Destinations({ allow }), { clock: systemClock, lookup });
  if (send === undefined) throw new Error('This host has no checked connections');
  const post = (url: string, headers = {}) => send({ url, headers: { 'content-type': 'a/b', ...headers }, body: 'é!' });
  return { post, names };
}

it('a post brings its headers and body over one connection, and gets status and Retry-After', async () => {
  const seen: { readonly headers: IncomingMessage['headers']; readonly body: string; readonly path?: string }[] = [];
  const ports = new Set<number | undefined>();
  await using server = await serveListener(async (request, response) => {
    ports.add(request.socket.remotePort);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push({ headers: request.headers, body: Buffer.concat(chunks).toString(), path: request.url ?? '' });
    response
      .writeHead([200, 204, 503][seen.length - 1] ?? 200, { 'retry-after': '7' })
      .end(seen.length === 1 ? 'ok' : '');
  });
  const { post, names } = postsTo(['hooks.test']);
  const url = `http://hooks.test:${server.port}/in?key=1`;
  const answers = [await post(url, { 'x-a': 'b' }).answer, await post(url).answer, await post(url).answer];
  expect(answers).toEqual([{ status: 200 }, { status: 204 }, { status: 503, retryAfter: '7' }]);
  expect(seen[0]).toMatchObject({
    body: 'é!',
    path: '/in?key=1',
    headers: { host: `hooks.test:${server.port}`, 'content-type': 'a/b', 'content-length': '3', 'x-a': 'b' },
  });
  expect([ports.size, names]).toEqual([1, ['hooks.test']]);
});

it('a post is not sent to a private address, not by a name, and not by another scheme', async () => {
  let requests = 0;
  await using server = await serveListener((_, response) => {
    requests += 1;
    response.end();
  });
  const { post } = postsTo(['10.0.0.1']);
  const { port } = server;
  for (const url of [
    `http://hooks.test:${port}/`,
    `http://127.0.0.1:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://localhost:${port}/`,
    `http://user:secret@hooks.test:${port}/`,
    'ftp://hooks.test/',
    'hooks',
  ]) {
    const error = await post(url).answer.catch((reason: unknown) => reason);
    expect(error, url).toMatchObject({ code: 'REFUSED_ADDRESS' });
    expect(String(error)).not.toMatch(/secret/);
  }
  expect(requests).toBe(0);
});

it('an answer that is too long, or cut off, still has its status', async () => {
  await using server = await serveListener((request, response) => {
    response.writeHead(202);
    if (request.url === '/cut') response.write('some', () => response.destroy());
    else response.write(Buffer.alloc(200_000));
  });
  const { post } = postsTo(['127.0.0.1']);
  for (const path of ['long', 'cut']) {
    expect(await post(`http://127.0.0.1:${server.port}/${path}`).answer).toEqual({ status: 202 });
  }
});

it('a post that is aborted, or has a header with a line break, gets no answer', async () => {
  await using server = await serveListener(() => {});
  const { post } = postsTo(['127.0.0.1']);
  const url = `http://127.0.0.1:${server.port}/`;
  const call = post(url);
  call.abort();
  await expect(call.answer).rejects.toThrow('aborted');
  const split = post(url, { 'x-a': 'b\r\nx-c: d' });
  split.abort();
  await expect(split.answer).rejects.toThrow('Invalid character');
});
