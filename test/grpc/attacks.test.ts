import { constants } from 'node:http2';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { afterTest, GrpcTester, message, serve, standStillAfter } from './grpc-world.js';
import { RawConnection } from './raw-connection.js';
import {
  ACK,
  answerOf,
  callHeaders,
  endOf,
  frame,
  http2Frame,
  PREFACE,
  rawCall,
  rawSession,
  sendMessageBytes,
  TYPE,
} from './raw-http2.js';

const STATUS = { invalid: 3, late: 4, exhausted: 8, unimplemented: 12 };

/** The server answers other clients as if nothing had happened. */
async function answersOthers(address: string): Promise<void> {
  const { value } = await new GrpcTester(address).call('SendMessage', { message: message('still there') });
  expect(value).toMatchObject({ message: { parts: [{ text: 'You said: still there' }] } });
}

describe('a message', () => {
  it('beyond the limit is refused as soon as its length is known', async () => {
    const { port, address } = await serve({}, { maxMessageBytes: 1000 });
    const session = rawSession(port);
    const answer = await answerOf(
      rawCall(session, [frame(Buffer.alloc(100), { length: 1_000_000_000 })], { open: true }),
    );
    expect(answer).toMatchObject({ status: STATUS.exhausted, reset: constants.NGHTTP2_NO_ERROR });
    expect(answer.message).toContain('more than 1000 bytes');
    await answersOthers(address);
  });

  it('is read compressed, up to the limit after decompression', async () => {
    const { port, address } = await serve({}, { maxMessageBytes: 1_000_000 });
    const session = rawSession(port);
    const headers = callHeaders('SendMessage', { 'grpc-encoding': 'gzip' });
    const plain = gzipSync(sendMessageBytes('packed'));
    expect(await answerOf(rawCall(session, [frame(plain, { flag: 1 })], { headers }))).toMatchObject({ status: 0 });
    const bomb = gzipSync(Buffer.alloc(200_000_000));
    const answer = await answerOf(rawCall(session, [frame(bomb, { flag: 1 })], { headers }));
    expect(answer).toMatchObject({ status: STATUS.exhausted });
    expect(answer.message).toContain('more than 1000000 bytes');
    const broken = await answerOf(rawCall(session, [frame(Buffer.from('no gzip'), { flag: 1 })], { headers }));
    expect(broken).toMatchObject({
      status: STATUS.invalid,
      message: 'Request payload validation error: The message is no gzip',
    });
    await answersOthers(address);
  });

  it('in an unknown encoding is UNIMPLEMENTED, and the answer names the known ones', async () => {
    const { port } = await serve();
    const headers = callHeaders('SendMessage', { 'grpc-encoding': 'brotli' });
    const answer = await answerOf(rawCall(rawSession(port), [frame(Buffer.alloc(3), { flag: 1 })], { headers }));
    expect(answer).toMatchObject({
      status: STATUS.unimplemented,
      headers: { 'grpc-accept-encoding': 'identity,gzip,deflate' },
    });
  });

  it.each([
    ['cut off', [frame(Buffer.alloc(10), { length: 20 })]],
    ['missing', []],
    ['followed by another one', [frame(sendMessageBytes('a')), frame(sendMessageBytes('b'))]],
    ['that is no protobuf', [frame(Buffer.from('\xff\xff\xff\xff'))]],
    ['marked as compressed without an encoding', [frame(sendMessageBytes('a'), { flag: 1 })]],
  ])('%s is INVALID_ARGUMENT', async (_name, chunks) => {
    const { port, address } = await serve();
    expect(await answerOf(rawCall(rawSession(port), chunks))).toMatchObject({ status: STATUS.invalid });
    await answersOthers(address);
  });

  it('that does not arrive in time ends the call', async () => {
    const { port } = await serve({}, { requestMs: 100 });
    const session = rawSession(port);
    const slow = await Promise.all([
      answerOf(rawCall(session, [], { open: true })),
      answerOf(rawCall(session, [frame(Buffer.alloc(10), { length: 50_000 })], { open: true })),
    ]);
    expect(slow.map(({ status }) => status)).toEqual([STATUS.late, STATUS.late]);
  });

  it('shares the memory for large bodies with all others', async () => {
    const { port, address } = await serve({ bodyMemory: 1_000_000 });
    const session = rawSession(port);
    const before = process.memoryUsage().arrayBuffers;
    const chunk = Buffer.alloc(16_384);
    const streams = Array.from({ length: 40 }, () =>
      rawCall(session, [frame(chunk, { length: 9_000_000 })], { open: true }),
    );
    for (const stream of streams) for (let sent = 0; sent < 9_000_000; sent += chunk.length) stream.write(chunk);
    // Of 360 MB the server takes a window of each stream, and the shared memory.
    await answersOthers(address);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60_000_000);
    session.destroy();
    await expect.poll(() => process.memoryUsage().arrayBuffers - before, { timeout: 10_000 }).toBeLessThan(20_000_000);
    await answersOthers(address);
  });
});

describe('a request that is no call', () => {
  it.each([
    ['GET', { ':method': 'GET' }, 405],
    ['another content type', { 'content-type': 'application/json' }, 415],
    ['gRPC-Web', { 'content-type': 'application/grpc-web+proto' }, 415],
  ])('is refused: %s', async (_name, more, status) => {
    const { port } = await serve();
    const answer = await answerOf(rawCall(rawSession(port), [], { headers: callHeaders('SendMessage', more) }));
    expect(answer.headers[':status']).toBe(status);
  });

  it('is refused for a timeout that cannot be read', async () => {
    const { port } = await serve();
    const headers = callHeaders('SendMessage', { 'grpc-timeout': '123456789S' });
    expect(await answerOf(rawCall(rawSession(port), [], { headers, open: true }))).toMatchObject({
      status: STATUS.invalid,
    });
  });

  it('is refused for too much metadata', async () => {
    const { port, address } = await serve({}, { maxMetadataBytes: 4_000 });
    const headers = callHeaders('SendMessage', { 'x-much': 'x'.repeat(20_000) });
    const answer = await answerOf(rawCall(rawSession(port), [frame(sendMessageBytes('a'))], { headers }));
    expect(answer).toMatchObject({ status: STATUS.exhausted, message: 'The metadata of the call is too large' });
    await answersOthers(address);
  });
});

describe('a connection', () => {
  it('that sends nothing is closed', async () => {
    const { port } = await serve({}, { headersMs: 100 });
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    afterTest(() => socket.destroy());
    await new Promise((resolve) => socket.on('close', resolve).resume());
  });

  it('without calls is closed, with GOAWAY', async () => {
    const { port, address } = await serve({}, { idleMs: 100 });
    const session = rawSession(port);
    expect(await endOf(session)).toBe(constants.NGHTTP2_NO_ERROR);
    await answersOthers(address);
  });

  it('whose client does not answer pings is closed', async () => {
    const { port } = await serve({}, { keepAliveMs: 100, keepAliveTimeoutMs: 100 });
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    afterTest(() => socket.destroy());
    // The preface of HTTP/2 and empty settings, then silence.
    socket.write(Buffer.concat([PREFACE, http2Frame(TYPE.settings, 0)]));
    await new Promise((resolve) => socket.on('close', resolve).resume());
  });

  it('that answers pings stays open', async () => {
    const { port } = await serve({}, { keepAliveMs: 30, keepAliveTimeoutMs: 1_000 });
    const session = rawSession(port);
    const stream = rawCall(session, [], { open: true });
    let pings = 0;
    await new Promise<void>((resolve) => session.on('ping', () => ++pings === 3 && resolve()));
    expect(stream.closed).toBe(false);
  });

  it('whose bytes waited while the process stood still is read before its time counts', async () => {
    const { port } = await serve({}, { headersMs: 200, keepAliveMs: 100, keepAliveTimeoutMs: 200 });
    const connection = new RawConnection(port, { preface: false });
    // The server has begun when its settings arrive.
    await vi.waitFor(() => expect(connection.frames(TYPE.settings)).toHaveLength(1), { timeout: 10_000, interval: 5 });
    const begin = Buffer.concat([PREFACE, http2Frame(TYPE.settings, 0)]);
    await standStillAfter(() => connection.socket.write(begin), 600);
    const pings = () => connection.frames(TYPE.ping);
    await vi.waitFor(() => expect(pings()).toHaveLength(1), { timeout: 10_000, interval: 5 });
    await standStillAfter(() => connection.write(TYPE.ping, 0, pings()[0]?.payload, ACK), 600);
    await vi.waitFor(() => expect(pings()).toHaveLength(2), { timeout: 10_000, interval: 5 });
    expect(connection.socket.destroyed).toBe(false);
  });

  it('beyond the limit is not accepted', async () => {
    const { port, address } = await serve({}, { maxConnections: 2 });
    const kept = [rawSession(port), rawSession(port)];
    await Promise.all(kept.map((session) => new Promise((resolve) => session.once('remoteSettings', resolve))));
    await endOf(rawSession(port));
    kept[0]?.destroy();
    await expect
      .poll(
        () =>
          answersOthers(address).then(
            () => true,
            () => false,
          ),
        { timeout: 5_000 },
      )
      .toBe(true);
  });

  it('has a limit of calls at the same time', async () => {
    const { port } = await serve({}, { maxStreams: 3 });
    const session = rawSession(port);
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
  });

  it('has a limit of calls together with all others, who are told so', async () => {
    const { port, address } = await serve({}, { maxCalls: 5 });
    const [open = [], more = []] = [rawSession(port), rawSession(port)].map((session) =>
      [1, 2, 3].map(() => rawCall(session, [], { open: true })),
    );
    const refused = await Promise.race([...open, ...more].map(answerOf));
    expect(refused).toMatchObject({ status: 8, message: 'The server has too many calls. Try again later' });
    for (const call of [...open, ...more]) call.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => answersOthers(address)).toBeUndefined();
  });

  it('whose calls send nothing keeps no place from others', async () => {
    const { port, address } = await serve({}, { maxCalls: 50 });
    const silent = [rawSession(port), rawSession(port)].flatMap((session) =>
      Array.from({ length: 50 }, () => rawCall(session, [], { open: true })),
    );
    const refused: unknown[] = [];
    for (const call of silent) void answerOf(call).then(({ status }) => refused.push(status));
    await expect.poll(() => refused.length).toBe(50);
    expect(new Set(refused)).toEqual(new Set([STATUS.exhausted]));
    for (let call = 0; call < 10; call++) await answersOthers(address);
    for (const call of silent) call.close(constants.NGHTTP2_CANCEL);
  });

  it('that takes back call after call is ended, and its work is bounded', async () => {
    const { port, address } = await serve();
    const session = rawSession(port);
    const end = endOf(session);
    const bytes = frame(sendMessageBytes('task'));
    const attack = () => {
      if (session.destroyed || session.closed) return;
      for (let call = 0; call < 50; call++) {
        const stream = rawCall(session, [bytes], { open: true });
        stream.close(constants.NGHTTP2_CANCEL);
      }
      setImmediate(attack);
    };
    attack();
    await end;
    await answersOthers(address);
  });

  it('that floods with pings is ended', async () => {
    const { port, address } = await serve();
    const session = rawSession(port);
    const end = endOf(session);
    const attack = () => {
      if (session.destroyed || session.closed) return;
      // The client allows ten pings without an answer.
      for (let ping = 0; ping < 10; ping++) session.ping(() => {});
      setImmediate(attack);
    };
    session.once('connect', attack);
    expect(await end).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    await answersOthers(address);
  });
});

describe('a flood of', () => {
  const literal = (name: string, value: string) =>
    Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);
  const call = { ':scheme': 'http', ...callHeaders('GetTask') };
  const headers = Object.entries(call).map(([name, value]) => literal(name, String(value)));
  const begun = http2Frame(TYPE.headers, 1, Buffer.concat(headers));

  it.each([
    ['settings', [], http2Frame(TYPE.settings, 0, Buffer.from([0, 4, 0, 0, 255, 255]))],
    ['answers to pings', [], http2Frame(TYPE.ping, 0, Buffer.alloc(8), ACK)],
    ['frames of an unknown type', [], http2Frame(0xaa, 0, Buffer.alloc(1_000))],
    ['continuations', [begun], http2Frame(TYPE.continuation, 1, literal('x-more', 'x'.repeat(100)))],
    ['empty continuations', [begun], http2Frame(TYPE.continuation, 1)],
  ])('%s ends its connection, and leaves no memory behind', { timeout: 60_000 }, async (_name, first, flood) => {
    const { port, address } = await serve();
    await answersOthers(address);
    const before = process.memoryUsage().arrayBuffers;
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    afterTest(() => socket.destroy());
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    socket.write(Buffer.concat([PREFACE, http2Frame(TYPE.settings, 0), ...first]));
    const chunk = Buffer.concat(Array.from({ length: 200 }, () => flood));
    const attack = () => {
      if (socket.destroyed) return;
      if (socket.write(chunk)) setImmediate(attack);
      else socket.once('drain', attack);
    };
    attack();
    await closed;
    await answersOthers(address);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });
});

it('an idle connection is asked for a sign of life now and then, not all the time', async () => {
  // Long enough for a busy machine, which may read the first bytes of the connection late.
  const { port } = await serve({}, { keepAliveMs: 800, headersMs: 400 });
  const session = rawSession(port);
  const since = performance.now();
  const pings: number[] = [];
  await new Promise<void>((resolve) => session.on('ping', () => pings.push(performance.now()) === 3 && resolve()));
  expect((pings[2] ?? 0) - since).toBeGreaterThan(2_000);
});

describe('a reader', () => {
  it('that reads nothing is dropped after a while', async () => {
    const { port } = await serve(
      {
        agent: {
          async execute(_context, events) {
            await events.working();
            const id = await events.artifact('start');
            for (let chunk = 0; chunk < 100; chunk++) await events.append(id, 'x'.repeat(20_000));
            await events.complete();
          },
        },
      },
      { stallMs: 200 },
    );
    const bytes = frame(sendMessageBytes('go'));
    const stream = rawCall(rawSession(port), [bytes], { headers: callHeaders('SendStreamingMessage') });
    stream.pause();
    const code = await new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)));
    expect(code).toBe(constants.NGHTTP2_CANCEL);
  });
});
