import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { get, post, RawConnection } from '../../../test/raw-connection.js';
import { errorAnswer, jsonAnswer } from '../../app/json-answer.js';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';
import { systemClock } from '../../exports/runtime.js';
import type { LogFields, Logger } from '../../telemetry/logger.js';
import { HttpServer, type HttpServerOptions } from './http-server.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const logged: string[] = [];
const note = (message: string, fields?: LogFields) => logged.push(`${message} ${String(fields?.error ?? '')}`.trim());
const logger: Logger = { debug: note, info: note, warn: note, error: note };

async function serve(exchange: Exchange, options: Partial<HttpServerOptions> = {}) {
  logged.length = 0;
  const server = new HttpServer({ clock: systemClock, logger, ...options, exchange });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  closers.push(() => server.close(0));
  return { server, port, url: `http://127.0.0.1:${port}` };
}

async function open(port: number, text = ''): Promise<RawConnection> {
  const connection = await RawConnection.open(port, text);
  closers.push(() => connection[Symbol.dispose]());
  return connection;
}

const text = (body: string, status = 200): ExchangeResponse => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body,
});
const decodeBody = async (request: ExchangeRequest, limit = 1_000_000) =>
  new TextDecoder().decode(await request.body(limit));

/** A binding that refuses a body as too large. */
const limitBody =
  (limit: number): Exchange =>
  async (request) => {
    try {
      return text(`got ${(await request.body(limit)).length}`);
    } catch (error) {
      if (!(error instanceof A2AError)) throw error;
      return errorAnswer({ status: error.code === 'PAYLOAD_TOO_LARGE' ? 413 : 400, message: error.message });
    }
  };

function latch() {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('requests', () => {
  it('arrive with method, path, query, headers, peer and body', async () => {
    const { url } = await serve(async (request) => {
      const { method, path, query, peer, local } = request;
      const header = request.header('x-two');
      const value = {
        method,
        path,
        query,
        peer,
        local,
        header,
        none: request.header('x-none'),
        body: await decodeBody(request),
      };
      return jsonAnswer({ status: 200, value });
    });
    const response = await fetch(`${url}/a/b%20c?x=1&y=2`, {
      method: 'POST',
      body: 'hellö',
      headers: [
        ['x-two', '1'],
        ['x-two', '2'],
      ],
    });
    expect(await response.json()).toEqual({
      method: 'POST',
      path: '/a/b%20c',
      query: 'x=1&y=2',
      peer: '127.0.0.1',
      local: url,
      header: '1, 2',
      body: 'hellö',
    });
  });

  it.each([
    ['GET http://example.com/a?b=1 HTTP/1.1', '/a b=1'],
    ['GET http://example.com?b=1 HTTP/1.1', '/ b=1'],
    ['GET http://example.com HTTP/1.1', '/ '],
    ['OPTIONS * HTTP/1.1', '/ '],
    ['GET /a?u=http://x/?y HTTP/1.1', '/a u=http://x/?y'],
  ])('have a path whatever the form of the target: %s', async (line, expected) => {
    const { port } = await serve(async ({ path, query }) => text(`<${path} ${query}>`));
    const connection = await open(port, `${line}\r\nhost: localhost\r\n\r\n`);
    expect(await connection.until(/<.*>/)).toContain(`<${expected}>`);
  });

  it('that bring a body in many pieces bring it whole', async () => {
    const { port } = await serve(async (request) => text(`<${await decodeBody(request)}>`));
    const connection = await open(port, 'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
    for (const piece of ['he', 'll', 'o']) {
      connection.socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      await turn();
    }
    connection.socket.write('0\r\n\r\n');
    expect(await connection.until(/<.*>/)).toContain('<hello>');
  });

  it('give their body to everybody who asks', async () => {
    const { url } = await serve(async (request) => text((await decodeBody(request)) + (await decodeBody(request))));
    expect(await (await fetch(url, { method: 'POST', body: 'ab' })).text()).toBe('abab');
    expect(await (await fetch(url)).text()).toBe('');
  });

  it('that are pipelined are answered in their order', async () => {
    const first = latch();
    const { port } = await serve(async (request) => {
      if (request.path === '/1') await first.opened;
      return text(`<${request.path} ${await decodeBody(request)}>`);
    });
    const connection = await open(port, post('/1', 'a') + post('/2', 'bb') + get('/3'));
    await turn();
    expect(connection.received).toBe('');
    first.open();
    const all = await connection.until(/<\/3 >/);
    expect(all.match(/<.*?>/g)).toEqual(['</1 a>', '</2 bb>', '</3 >']);
  });
});

describe('bodies over the limit', () => {
  it('are refused unread by their announced length, and the peer gets to see why', async () => {
    const { port } = await serve(limitBody(1000));
    const connection = await open(port, post('/', '', { 'content-length': '100000000' }));
    const answer = await connection.until(/larger than/);
    expect(answer).toMatch(/^HTTP\/1\.1 413 Payload Too Large\r\n/);
    expect(answer).toContain('content-type: application/json');
    expect(answer).toContain('connection: close');
    connection.socket.write('x'.repeat(100_000));
    await connection.untilEnd();
  });

  it('are refused when their pieces pass it', async () => {
    const { port } = await serve(limitBody(1000));
    const connection = await open(port, 'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
    const piece = `200\r\n${'x'.repeat(0x200)}\r\n`;
    connection.socket.write(piece + piece);
    expect(await connection.until(/larger than 1000 bytes/)).toContain('connection: close');
    connection.socket.write(`${piece}0\r\n\r\n`);
    await connection.untilEnd();
  });

  it('are refused for clients that write all before they read', async () => {
    const { url } = await serve(limitBody(1000));
    const response = await fetch(url, { method: 'POST', body: new Uint8Array(8_000_000) });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { code: 413 } });
  });

  it('are not asked for when the peer offers to wait', async () => {
    const { port } = await serve(limitBody(1000));
    const refused = await open(port, post('/', '', { 'content-length': '5000', expect: '100-continue' }));
    expect(await refused.until(/larger than/)).not.toContain('100 Continue');
    const taken = await open(port, post('/', '', { 'content-length': '5', expect: '100-continue' }));
    await taken.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    taken.socket.write('12345');
    expect(await taken.until(/got 5/)).toContain('HTTP/1.1 200 OK');
  });

  it('that nobody asked for keep the connection when they are small, and end it when they are not', async () => {
    const { port } = await serve(async ({ path }) => text(`<${path}>`, 404));
    const small = await open(port, post('/1', 'x'.repeat(100)) + get('/2'));
    expect(await small.until(/<\/2>/)).toContain('</1>');
    const large = await open(port, post('/3', '', { 'content-length': '10000000' }));
    expect(await large.until(/<\/3>/)).toContain('connection: close');
  });
});

describe('answers', () => {
  it('have the length of their bytes', async () => {
    const { url } = await serve(async ({ path }) =>
      path === '/bytes' ? { status: 201, headers: {}, body: new Uint8Array([1, 2, 3]) } : text('äöü€'),
    );
    const response = await fetch(url);
    expect(response.headers.get('content-length')).toBe('9');
    expect(await response.text()).toBe('äöü€');
    const bytes = await fetch(`${url}/bytes`);
    expect([bytes.status, ...new Uint8Array(await bytes.arrayBuffer())]).toEqual([201, 1, 2, 3]);
  });

  it('to HEAD tell the length and have no body', async () => {
    const { port } = await serve(async () => text('hello'));
    const connection = await open(
      port,
      'HEAD / HTTP/1.1\r\nhost: localhost\r\n\r\nGET /next HTTP/1.1\r\nhost: localhost\r\n\r\n',
    );
    const answer = await connection.until(/hello/);
    expect(answer.match(/content-length: 5/g)).toHaveLength(2);
    expect(answer.match(/hello/g)).toHaveLength(1);
  });

  it.each([
    [204, false],
    [304, false],
    [200, true],
  ])('without a body with status %i tell a length: %s', async (status, told) => {
    const { port } = await serve(async () => ({ status, headers: {} }));
    const connection = await open(port, get('/', 'connection: close\r\n'));
    expect((await connection.untilEnd()).includes('content-length: 0')).toBe(told);
  });

  it('of a broken exchange are 500 in JSON, and the cause is in the log only', async () => {
    const { url } = await serve(async () => {
      throw new TypeError('a secret');
    });
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ error: { code: 500, status: 'INTERNAL', message: 'Internal error' } });
    expect(logged).toEqual(['An exchange failed TypeError: a secret']);
  });

  it('with headers that cannot be sent end the connection and nothing else', async () => {
    const { url } = await serve(async ({ path }) =>
      path === '/' ? text('fine') : { status: 200, headers: { 'x-bad': 'a\nb' }, body: 'x' },
    );
    await expect(fetch(`${url}/bad`)).rejects.toThrow();
    expect(logged[0]).toMatch(/^An answer could not be sent/);
    expect(await (await fetch(url)).text()).toBe('fine');
  });
});

describe('what is no HTTP', () => {
  it.each([
    ['garbage\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n', 400],
    ['POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: localhost\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('is answered in JSON and ends the connection', async (bytes, status) => {
    const { port } = await serve(async () => text('fine'));
    const answer = await (await open(port, bytes)).untilEnd();
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toContain('content-type: application/json');
    expect(head).toContain(`content-length: ${body.length}`);
    expect(JSON.parse(body)).toMatchObject({ error: { code: status } });
  });

  it('harms nobody, whatever it is', async () => {
    const { port, url } = await serve(async (request) => text(`got ${(await request.body(1000)).length}`));
    const start = fc.constantFrom(
      '',
      'GET / HTTP/1.1\r\n',
      'POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\n',
    );
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ maxLength: 200 }), async (text, bytes) => {
        using connection = await RawConnection.open(port, text);
        connection.socket.end(bytes);
        const answer = await connection.untilEnd();
        expect(answer).toMatch(/^($|HTTP\/1\.1 \d{3} )/);
      }),
      { numRuns: 200 },
    );
    expect(await (await fetch(url)).text()).toBe('got 0');
  });

  it('does not get into a stream that is open on the same connection', async () => {
    const { port } = await serve(async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield 'one';
        await new Promise(() => {});
      })(),
    }));
    const connection = await open(port, get('/'));
    await connection.until(/one/);
    connection.socket.write('garbage\r\n\r\n');
    expect(await connection.untilEnd()).not.toContain('400');
  });

  it('that never finishes its head is ended in time', async () => {
    const { port } = await serve(async () => text('fine'), { headersMs: 50 });
    expect(await (await open(port, 'GET / HTTP/1.1\r\n')).untilEnd()).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe('a peer that goes away', () => {
  it('during its upload fails the body and harms nobody', async () => {
    const failed = latch();
    let code = '';
    const { port, url } = await serve(async (request) => {
      if (request.method === 'GET') return text('fine');
      try {
        return text(await decodeBody(request));
      } catch (error) {
        code = error instanceof A2AError ? error.code : String(error);
        failed.open();
        return errorAnswer({ status: 400, message: 'too late' });
      }
    });
    const connection = await open(port, post('/', 'only a part', { 'content-length': '1000' }));
    await turn();
    connection.socket.destroy();
    await failed.opened;
    expect(code).toBe('INVALID_REQUEST');
    expect(await (await fetch(url)).text()).toBe('fine');
    expect(logged).toEqual([]);
  });

  it('before its answer aborts the signal, also for those who look late', async () => {
    const arrived = latch();
    const aborted = latch();
    const { port } = await serve(async (request) => {
      arrived.open();
      request.signal.addEventListener('abort', () => aborted.open());
      await aborted.opened;
      expect(request.signal.aborted).toBe(true);
      return text('nobody reads this');
    });
    const connection = await open(port, get('/'));
    await arrived.opened;
    connection.socket.destroy();
    await aborted.opened;
  });

  it('after its answer aborts nothing', async () => {
    let signal: AbortSignal | undefined;
    const { port } = await serve(async (request) => {
      signal = request.signal;
      return text('hello');
    });
    const connection = await open(port, get('/', 'connection: close\r\n'));
    await connection.untilEnd();
    await turn();
    expect(signal?.aborted).toBe(false);
  });
});

describe('a shutdown', () => {
  it('lets calls finish, ends their connections and takes no new ones', async () => {
    const arrived = latch();
    const finish = latch();
    const { server, port, url } = await serve(async ({ path }) => {
      if (path === '/at-once') return text('at once');
      arrived.open();
      await finish.opened;
      return text('finished');
    });
    const idle = await open(port, get('/at-once'));
    await idle.until(/at once/);
    const busy = await open(port, get('/'));
    await arrived.opened;
    const closed = server.close(10_000);
    await idle.untilEnd();
    await expect(fetch(url)).rejects.toThrow();
    finish.open();
    const answer = await busy.untilEnd();
    expect(answer).toContain('finished');
    expect(answer).toContain('connection: close');
    await closed;
  });

  it('ends streams cleanly between two events', async () => {
    const started = latch();
    let returned = false;
    const { server, port } = await serve(async () => ({
      status: 200,
      headers: {},
      body: {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            if (returned) return { done: true, value: undefined };
            started.open();
            await turn();
            return { done: false, value: 'tick\n' };
          },
          return: async () => {
            returned = true;
            return { done: true, value: undefined };
          },
        }),
      },
    }));
    const connection = await open(port, get('/'));
    await started.opened;
    await connection.until(/tick/);
    await server.close(1000);
    expect(returned).toBe(true);
    expect(await connection.untilEnd()).toMatch(/tick\n\r\n0\r\n\r\n$/);
  });

  it('cuts what does not finish within the grace', async () => {
    const arrived = latch();
    const { server, port } = await serve(async () => {
      arrived.open();
      return new Promise(() => {});
    });
    const connection = await open(port, get('/'));
    await arrived.opened;
    await server.close(30);
    expect(await connection.untilEnd()).toBe('');
  });

  it('does not cut an answer that is still on its way', async () => {
    const body = 'x'.repeat(20_000_000);
    const answered = latch();
    const { server, port } = await serve(async () => {
      answered.open();
      return text(body);
    });
    const connection = await open(port);
    connection.socket.pause();
    connection.socket.write(get('/'));
    await answered.opened;
    const closed = server.close(10_000);
    connection.socket.resume();
    const answer = await connection.untilEnd();
    expect(answer.length).toBeGreaterThan(body.length);
    await closed;
  });
});

describe('listening', () => {
  it('on a port that is taken fails', async () => {
    const { port } = await serve(async () => text('first'));
    const second = new HttpServer({ exchange: async () => text('second'), clock: systemClock, logger });
    await expect(second.listen({ host: '127.0.0.1', port })).rejects.toThrow(/EADDRINUSE/);
  });
});

it('1,000 dropped streams leave no listener', async () => {
  const source = new EventEmitter().setMaxListeners(0);
  let let_go = 0;
  const { port } = await serve(async () => ({
    status: 200,
    headers: {},
    body: {
      [Symbol.asyncIterator]() {
        const listener = () => {};
        source.on('event', listener);
        let sent = false;
        return {
          next: () => {
            if (sent) return new Promise<IteratorResult<string>>(() => {});
            sent = true;
            return Promise.resolve({ done: false as const, value: 'open\n' });
          },
          return: async () => {
            let_go++;
            source.off('event', listener);
            return { done: true as const, value: undefined };
          },
        };
      },
    },
  }));
  for (let round = 0; round < 10; round++) {
    const connections = await Promise.all(Array.from({ length: 100 }, () => open(port, get('/'))));
    await Promise.all(connections.map((connection) => connection.until(/open/)));
    for (const connection of connections) connection.socket.destroy();
  }
  while (let_go < 1000) await turn();
  expect(source.listenerCount('event')).toBe(0);
});
