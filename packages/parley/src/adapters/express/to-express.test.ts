import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { get, post, RawConnection } from '../../../test/raw-connection.js';
import { errorAnswer, jsonAnswer } from '../../app/json-answer.js';
import type { Exchange } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';
import { systemClock } from '../../exports/runtime.js';
import { silentLogger } from '../../telemetry/logger.js';
import { toExpress } from './to-express.js';

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

let openConnections: () => number = () => 0;

async function serve(mountOn: (app: Express) => unknown): Promise<string> {
  const app = express();
  mountOn(app);
  const server = app.listen(0, '127.0.0.1');
  const sockets = new Set();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  openConnections = () => sockets.size;
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function send(url: string, body?: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, headers: response.headers, json: (await response.json()) as object };
}

describe('a mount', () => {
  it('takes everything below its path, and says where it is', async () => {
    const url = await serve((app) => app.use('/agents/echo', toExpress({ ...ports, exchange: mirror })));
    expect((await send(`${url}/agents/echo/a%20b?x=1`, '{}')).json).toEqual({
      method: 'POST',
      path: '/a%20b',
      query: 'x=1',
      peer: '127.0.0.1',
      local: url,
      mount: '/agents/echo',
      body: '{}',
    });
    expect((await send(`${url}/agents/echo?x`)).json).toMatchObject({ path: '/', query: 'x', mount: '/agents/echo' });
    expect((await fetch(`${url}/agents/echoes`)).status).toBe(404);
  });

  it('tells the exchange the status that the application has answered with', async () => {
    const told: (number | undefined)[] = [];
    const exchange: Exchange = async ({ toldStatus }) => {
      told.push(toldStatus);
      return { status: 200, headers: {} };
    };
    const url = await serve((app) => {
      app.use('/late', (_request, response, next) => {
        response.status(503).json({});
        next();
      });
      app.use(toExpress({ ...ports, exchange }));
    });
    expect([(await fetch(`${url}/late`)).status, (await fetch(url)).status]).toEqual([503, 200]);
    expect(told).toEqual([503, undefined]);
  });

  it('may be at the root, and in routers', async () => {
    const router = express.Router();
    router.use('/b', toExpress({ ...ports, exchange: mirror }));
    const url = await serve((app) => app.use('/:tenant', router).use(toExpress({ ...ports, exchange: mirror })));
    expect((await send(`${url}/a/b/c`)).json).toMatchObject({ path: '/c', mount: '/a/b' });
    expect((await send(`${url}/x`)).json).toMatchObject({ path: '/x', mount: '' });
  });

  it('keeps the headers that were set before it', async () => {
    const url = await serve((app) => {
      app.use((_request, response, next) => {
        response.set({ 'access-control-allow-origin': '*', 'content-type': 'text/html' });
        next();
      });
      app.use(toExpress({ ...ports, exchange: mirror }));
    });
    const { headers } = await send(url);
    expect([headers.get('access-control-allow-origin'), headers.get('content-type')]).toEqual([
      '*',
      'application/json',
    ]);
  });

  it('leaves a request alone that was answered in the meantime', async () => {
    let released = false;
    let answered: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const frames = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false as const, value: 'late' }),
        return: async () => {
          released = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const exchange: Exchange = async () => {
      await late;
      return { status: 200, headers: {}, body: frames };
    };
    const url = await serve((app) => {
      app.use((_request, response, next) => {
        next();
        response.status(503).json({ error: 'too slow' });
        response.once('finish', () => answered?.());
      });
      app.use(toExpress({ ...ports, exchange }));
    });
    expect((await send(url)).json).toEqual({ error: 'too slow' });
    await expect.poll(() => released).toBe(true);
  });

  it('answers in JSON when its exchange breaks', async () => {
    const exchange = async () => {
      throw new Error('secret');
    };
    const url = await serve((app) => app.use(toExpress({ ...ports, exchange })));
    const { status, json } = await send(url);
    expect([status, json]).toMatchObject([500, { error: { message: 'Internal error' } }]);
  });
});

describe('a body', () => {
  const parsers: [string, RequestHandler][] = [
    ['no parser', (_request, _response, next) => next()],
    ['express.json()', express.json()],
    ['express.text()', express.text({ type: '*/*' })],
    ['express.raw()', express.raw({ type: '*/*' })],
  ];

  it.each(parsers)('arrives as it was sent behind %s', async (_, parser) => {
    const url = await serve((app) => app.use(parser, toExpress({ ...ports, exchange: mirror })));
    const body = '{"a":["ü",1.5,null,{"b":false}]}';
    expect((await send(url, body)).json).toMatchObject({ body });
    expect((await send(url)).json).toMatchObject({ body: '' });
    expect((await send(url, '')).json).toMatchObject({ body: '' });
  });

  it.each(parsers)('has the limit of the exchange behind %s', async (_, parser) => {
    const url = await serve((app) => app.use(parser, toExpress({ ...ports, exchange: mirror })));
    const { status, json } = await send(url, JSON.stringify('x'.repeat(2_000)).replace(/.*/, '[$&]'));
    expect([status, json]).toMatchObject([
      413,
      { error: { message: expect.stringContaining('The request body is larger than 2000 bytes') } },
    ]);
  });

  it('over the limit of the parser is refused in the form of the exchange', async () => {
    const url = await serve((app) => {
      app.use(express.json({ limit: 100 }), toExpress({ ...ports, exchange: mirror }));
    });
    const { status, json } = await send(url, JSON.stringify(['x'.repeat(200)]));
    expect([status, json]).toMatchObject([
      413,
      { error: { message: expect.stringContaining('The request body is larger than 100 bytes') } },
    ]);
  });

  it.each(['{"a":', '"text"', '7', 'x'])('that the parser cannot take is judged by the exchange: %s', async (body) => {
    const url = await serve((app) => app.use(express.json(), toExpress({ ...ports, exchange: mirror })));
    expect((await send(url, body)).json).toMatchObject({ body });
  });

  it('in an unknown encoding is refused in the form of the exchange', async () => {
    const url = await serve((app) => app.use(express.json(), toExpress({ ...ports, exchange: mirror })));
    const { status, json } = await send(url, '{}', { 'content-encoding': 'x-odd' });
    expect([status, json]).toMatchObject([
      400,
      { error: { message: 'The encoding of the request body is not supported' } },
    ]);
    expect((await send(url, '{}', { 'content-encoding': 'gzip' })).json).toMatchObject({
      error: { code: 400, message: expect.stringContaining('The request body cannot be decompressed') },
    });
    expect((await send(url, gzipSync('{"a":1}'), { 'content-encoding': 'gzip' })).json).toMatchObject({
      body: '{"a":1}',
    });
  });

  it('nested deeper than the parser can write is refused', async () => {
    const url = await serve((app) => {
      app.use(express.json({ limit: '10mb' }), toExpress({ ...ports, exchange: mirror }));
    });
    const depth = 1_000_000;
    const { status, json } = await send(url, '['.repeat(depth) + ']'.repeat(depth));
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { message: 'The JSON is nested too deeply' } });
  });

  it('that something else has read is refused, and nobody waits for it', async () => {
    const url = await serve((app) => {
      app.use((request, _response, next) => void request.resume().once('end', () => next()));
      app.use(toExpress({ ...ports, exchange: mirror }));
    });
    const { status, json } = await send(url, '{}');
    expect([status, json]).toMatchObject([
      400,
      { error: { message: 'The request body was read by something else on this server' } },
    ]);
  });

  it('that is too large is not waited for', async () => {
    const url = await serve((app) => app.use(toExpress({ ...ports, exchange: mirror })));
    const connection = await RawConnection.open(
      Number(new URL(url).port),
      'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n[',
    );
    closers.push(() => connection[Symbol.dispose]());
    expect(await connection.untilEnd()).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('errors of the application', () => {
  it('go on to its own error handler', async () => {
    const broken = new A2AError('INTERNAL_ERROR', 'of the application');
    const url = await serve((app) => {
      app.use((_request, _response, next) => next(broken));
      app.use(toExpress({ ...ports, exchange: mirror }));
      const last: ErrorRequestHandler = (error, _request, response, _next) => {
        response.status(500).json({ same: error === broken });
      };
      app.use(last);
    });
    expect((await send(url)).json).toEqual({ same: true });
  });
});

describe('a peer that reads nothing', () => {
  const large = 'x'.repeat(50_000_000);
  async function* endless() {
    for (;;) yield large;
  }

  it.each([
    ['a whole answer', () => large],
    ['a stream', endless],
  ])('of %s is dropped after a while', async (_, body) => {
    const exchange: Exchange = async () => ({ status: 200, headers: {}, body: body() });
    const url = await serve((app) => app.use(toExpress({ ...ports, exchange, stallMs: 100 })));
    const connection = await RawConnection.open(Number(new URL(url).port), get('/'));
    closers.push(() => connection[Symbol.dispose]());
    await connection.until(/xxx/);
    connection.socket.pause();
    // It learns of it once it has read what was on the way already.
    await expect.poll(() => openConnections(), { timeout: 10_000 }).toBe(0);
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
    const url = await serve((app) => app.use(toExpress({ ...ports, exchange })));
    const connection = await RawConnection.open(Number(new URL(url).port), get('/'));
    closers.push(() => connection[Symbol.dispose]());
    expect(await connection.until(/\r\n\r\n$/)).toContain('x-kind: stream');
    give?.('one\n');
    await connection.until(/one\n/);
    connection.socket.destroy();
    await expect.poll(() => released).toBe(1);
  });

  it('follows an answer on the same connection', async () => {
    const url = await serve((app) => app.use(toExpress({ ...ports, exchange: mirror })));
    const connection = await RawConnection.open(Number(new URL(url).port), post('/1', 'a') + get('/2'));
    closers.push(() => connection[Symbol.dispose]());
    expect(await connection.until(/"path": "\/2"/)).toContain('"path": "/1"');
  });
});
