import { once } from 'node:events';
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { get, RawConnection } from '../../../test/raw-connection.js';
import { errorAnswer, jsonAnswer } from '../../app/json-answer.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import type { A2AError } from '../../errors/a2a-error.js';
import { systemClock } from '../../exports/runtime.js';
import { silentLogger } from '../../telemetry/logger.js';
import { type FastifyAdapterOptions, toFastify } from './to-fastify.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ports = { clock: systemClock, logger: silentLogger, limitReached: () => {} };

/** Tells what it was asked. */
const mirror: Exchange = async (request) => {
  const { method, path, query, peer, local, mount } = request;
  try {
    await request.body(2_000);
    const body = new TextDecoder().decode(await request.body(2_000));
    return jsonAnswer({ status: 200, value: { method, path, query, peer, local, mount, body } });
  } catch (error) {
    const { code, message } = error as A2AError;
    return errorAnswer({ status: code === 'PAYLOAD_TOO_LARGE' ? 413 : 400, message });
  }
};
const plugin = toFastify({ ...ports, exchange: mirror });

async function serve(setUp: (app: FastifyInstance) => unknown): Promise<string> {
  const app = Fastify({ forceCloseConnections: true });
  setUp(app);
  closers.push(() => app.close());
  return app.listen({ port: 0, host: '127.0.0.1' });
}

async function send(url: string, body?: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, headers: response.headers, json: (await response.json()) as object };
}

describe('a mount', () => {
  it('takes everything below its prefix, and says where it is', async () => {
    const url = await serve((app) => app.register(plugin, { prefix: '/agents/echo' }));
    expect((await send(`${url}/agents/echo/a%20b/c?x=1`, '{}')).json).toEqual({
      method: 'POST',
      path: '/a%20b/c',
      query: 'x=1',
      peer: '127.0.0.1',
      local: url,
      mount: '/agents/echo',
      body: '{}',
    });
    expect((await send(`${url}/agents/echo?x`)).json).toMatchObject({ path: '/', query: 'x', mount: '/agents/echo' });
    expect((await send(`${url}/agents/echo/`)).json).toMatchObject({ path: '/', mount: '/agents/echo' });
    expect((await fetch(`${url}/agents/echoes`)).status).toBe(404);
  });

  it('may be at the root, and below prefixes with parameters', async () => {
    const url = await serve((app) => {
      app.register(plugin);
      app.register(async (scope) => scope.register(plugin, { prefix: '/b' }), { prefix: '/in/:tenant' });
    });
    expect((await send(`${url}/x/y`)).json).toMatchObject({ path: '/x/y', mount: '' });
    expect((await send(url)).json).toMatchObject({ path: '/', mount: '' });
    expect((await send(`${url}/in/a%2Fc/b/d`)).json).toMatchObject({ path: '/d', mount: '/in/a%2Fc/b' });
  });

  it.each(['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])('is asked for %s as well', async (method) => {
    const exchange: Exchange = async (request) => ({ status: 200, headers: { 'x-method': request.method } });
    const url = await serve((app) => app.register(toFastify({ ...ports, exchange }), { prefix: '/a' }));
    expect((await fetch(`${url}/a/b`, { method })).headers.get('x-method')).toBe(method);
  });

  it('keeps the headers that hooks have set, and runs their ends', async () => {
    const ended: number[] = [];
    const url = await serve((app) => {
      app.addHook('onRequest', async (_request, reply) => void reply.header('access-control-allow-origin', '*'));
      app.addHook('onResponse', async (_request, reply) => void ended.push(reply.raw.statusCode));
      app.register(plugin);
    });
    const { headers } = await send(url);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    await expect.poll(() => ended).toEqual([200]);
  });

  it('is encapsulated: parsers and error handlers of the application stay what they are', async () => {
    const url = await serve((app) => {
      app.register(plugin, { prefix: '/agents' });
      app.post('/own', async (request) => ({ parsed: request.body }));
    });
    expect((await send(`${url}/own`, '{"a":1}')).json).toEqual({ parsed: { a: 1 } });
    expect((await send(`${url}/own`, '{"a":')).status).toBe(400);
    expect((await send(`${url}/own`, 'x', { 'content-type': 'odd/type' })).status).toBe(415);
  });

  it('leaves errors of the application to the application', async () => {
    const url = await serve((app) => {
      app.setErrorHandler((error, _request, reply) => reply.code(401).send({ own: (error as Error).message }));
      app.addHook('preHandler', async () => {
        throw new Error('who are you?');
      });
      app.register(plugin);
    });
    const { status, json } = await send(url, '{}');
    expect([status, json]).toEqual([401, { own: 'who are you?' }]);
  });
});

describe('a body', () => {
  it.each(['application/json', 'application/a2a+json', 'text/plain', 'application/x-www-form-urlencoded', 'odd', ''])(
    'of the type "%s" arrives as it was sent',
    async (type) => {
      const url = await serve((app) => app.register(plugin));
      for (const body of ['{"a":', '', '{"a":["ü",1.5]}'])
        expect((await send(url, body, { 'content-type': type })).json).toMatchObject({ body });
    },
  );

  it('has the limit of the exchange, whatever that of the application is', async () => {
    const url = await serve((app) => app.register(plugin));
    const { status, json } = await send(url, 'x'.repeat(2_001));
    expect([status, json]).toMatchObject([
      413,
      { error: { message: expect.stringContaining('The request body is larger than 2000 bytes') } },
    ]);
    // Beyond Fastify's own limit too.
    expect((await send(url, 'x'.repeat(1_100_000))).json).toMatchObject({ error: { code: 413 } });
  });

  it('may be unpacked by a hook before it', async () => {
    const url = await serve((app) => {
      app.addHook('preParsing', async (_request, _reply, payload) => {
        const chunks: Buffer[] = [];
        for await (const chunk of payload) chunks.push(chunk as Buffer);
        return Readable.from([gunzipSync(Buffer.concat(chunks))]);
      });
      app.register(plugin);
    });
    expect((await send(url, gzipSync('{"a":1}'))).json).toMatchObject({ body: '{"a":1}' });
    expect((await send(url, gzipSync('x'.repeat(2_001)))).json).toMatchObject({ error: { code: 413 } });
  });
});

describe('over HTTP/2', () => {
  /** An answer over a session of its own. */
  async function ask(url: string, headers: OutgoingHttpHeaders, body?: string) {
    const session = connect(url);
    closers.push(() => session.destroy());
    const request = session.request({ ':path': '/agents/x?y', 'content-type': 'application/json', ...headers });
    request.setEncoding('utf8').end(body);
    const [head] = (await once(request, 'response')) as [IncomingHttpHeaders];
    let text = '';
    for await (const chunk of request) text += chunk;
    return { status: head[':status'], text };
  }

  async function serveHttp2(exchange: Exchange, options: Partial<FastifyAdapterOptions> = {}): Promise<string> {
    const app = Fastify({ http2: true });
    app.register(toFastify({ ...ports, ...options, exchange }), { prefix: '/agents' });
    closers.push(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  }

  it('bodies arrive, whether or not they are announced', async () => {
    const url = await serveHttp2(mirror);
    const askJson = async (headers: OutgoingHttpHeaders, body?: string) =>
      JSON.parse((await ask(url, headers, body)).text);
    const common = { path: '/x', query: 'y', mount: '/agents', peer: '127.0.0.1', local: url };
    expect(await askJson({ ':method': 'POST' }, '{"a":1}')).toEqual({ ...common, method: 'POST', body: '{"a":1}' });
    expect(await askJson({ ':method': 'POST', 'content-length': 2 }, '{}')).toMatchObject({ body: '{}' });
    expect(await askJson({ ':method': 'POST' })).toMatchObject({ body: '' });
    expect(await askJson({})).toMatchObject({ method: 'GET', body: '' });
  });

  it('a body over the limit is refused', async () => {
    const url = await serveHttp2(mirror);
    const { status, text } = await ask(url, { ':method': 'POST' }, 'x'.repeat(200_000));
    expect([status, text]).toEqual([413, expect.stringContaining('larger than 2000 bytes')]);
  });

  it('streams are shown', async () => {
    async function* frames() {
      yield 'one ';
      yield 'two';
    }
    const url = await serveHttp2(async () => ({ status: 200, headers: { 'x-a': 'b' }, body: frames() }));
    expect(await ask(url, {})).toEqual({ status: 200, text: 'one two' });
  });

  it('a reader that takes nothing of a whole answer is dropped, and the connection goes on', async () => {
    const reached: string[] = [];
    const url = await serveHttp2(async () => ({ status: 200, headers: {}, body: 'x'.repeat(500_000) }), {
      stallMs: 200,
      limitReached: ({ limit }) => reached.push(limit),
    });
    const session = connect(url);
    closers.push(() => session.destroy());
    const stalled = session.request({ ':path': '/agents/x' });
    const ended = once(stalled, 'close');
    stalled.on('error', () => {}).pause();
    await expect.poll(() => reached).toEqual(['stallMs']);
    stalled.resume();
    await ended;
    const next = session.request({ ':path': '/agents/x' });
    let bytes = 0;
    for await (const chunk of next) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(500_000);
  });
});

describe('a stream', () => {
  it('is shown frame by frame, and let go when its reader goes', async () => {
    let released = 0;
    let give: ((frame: string) => void) | undefined;
    const frames = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          new Promise<IteratorResult<string>>((resolve) => {
            give = (value) => resolve({ done: false, value });
          }),
        return: async () => {
          released++;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const exchange: Exchange = async () => ({ status: 200, headers: { 'x-kind': 'stream' }, body: frames });
    const url = await serve((app) => app.register(toFastify({ ...ports, exchange })));
    const connection = await RawConnection.open(Number(new URL(url).port), get('/'));
    closers.push(() => connection[Symbol.dispose]());
    expect(await connection.until(/\r\n\r\n$/)).toContain('x-kind: stream');
    give?.('one\n');
    await connection.until(/one\n/);
    connection.socket.destroy();
    await expect.poll(() => released).toBe(1);
  });
});
