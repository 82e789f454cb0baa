import { constants } from 'node:http2';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { GrpcTester, message, serve } from './grpc-world.js';
import { ANSWER, FLAG, headerBlock, literal, RawConnection, word } from './raw-connection.js';
import { answerOf, callHeaders, frame, rawCall, rawSession, sendMessageBytes, TYPE } from './raw-http2.js';

const STATUS = { ok: 0, invalid: 3, late: 4, exhausted: 8, unimplemented: 12 };

/** The server answers other clients as if nothing had happened. */
async function answersOthers(address: string): Promise<void> {
  const { value } = await new GrpcTester(address).call('SendMessage', { message: message('still there') });
  expect(value).toMatchObject({ message: { parts: [{ text: 'You said: still there' }] } });
}

const whole = () => frame(sendMessageBytes('hi'));

describe('a deadline', () => {
  it.each(['99999999H', '99999999M', '99999999S', '10000000S'])('of %s is no deadline that passes', async (timeout) => {
    const { port } = await serve();
    const headers = callHeaders('SendMessage', { 'grpc-timeout': timeout });
    expect(await answerOf(rawCall(rawSession(port), [whole()], { headers }))).toMatchObject({ status: STATUS.ok });
  });

  it.each(['0H', '0n', '0m', '1n'])('of %s has passed', async (timeout) => {
    const { port, address } = await serve();
    const headers = callHeaders('SendMessage', { 'grpc-timeout': timeout });
    // The message is never sent.
    const answer = await answerOf(rawCall(rawSession(port), [], { headers, open: true }));
    expect(answer).toMatchObject({ status: STATUS.late });
    await answersOthers(address);
  });

  it.each(['', '-1S', '+1S', '1.5S', '1e3S', '0x1S', '1s', 'S', '1', '1SS', '１S', '1S,1S'])(
    'that is "%s" is refused',
    async (timeout) => {
      const { port, address } = await serve();
      const connection = new RawConnection(port);
      connection.begin(1, { headers: { 'grpc-timeout': timeout } });
      await expect.poll(() => connection.frames(ANSWER.headers).length + Number(connection.socket.destroyed)).toBe(1);
      if (connection.socket.destroyed) return answersOthers(address);
      expect(connection.frames(ANSWER.headers)[0]?.payload.length).toBeGreaterThan(0);
      expect(connection.ended).toBe(1);
      await answersOthers(address);
    },
  );
});

describe('a compressed message', () => {
  it.each([
    ['of no bytes', Buffer.alloc(0), STATUS.invalid],
    ['cut off', gzipSync(sendMessageBytes('hi')).subarray(0, 12), STATUS.invalid],
    ['followed by other bytes', Buffer.concat([gzipSync(sendMessageBytes('hi')), Buffer.from('more')]), undefined],
    ['that is deflate', deflateSync(sendMessageBytes('hi')), STATUS.invalid],
    ['of many members', Buffer.concat(Array.from({ length: 2_000 }, () => gzipSync(Buffer.alloc(10_000)))), undefined],
  ])('%s ends its call only', async (_, bytes, status) => {
    const { port, address } = await serve({}, { maxMessageBytes: 1_000_000 });
    const headers = callHeaders('SendMessage', { 'grpc-encoding': 'gzip' });
    const answer = await answerOf(rawCall(rawSession(port), [frame(bytes, { flag: 1 })], { headers }));
    if (status === undefined) expect([STATUS.invalid, STATUS.exhausted, STATUS.ok]).toContain(answer.status);
    else expect(answer.status).toBe(status);
    await answersOthers(address);
  });

  it('with a flag that has no meaning is no message', async () => {
    const { port, address } = await serve();
    const session = rawSession(port);
    for (const flag of [2, 128, 255])
      expect(await answerOf(rawCall(session, [frame(sendMessageBytes('hi'), { flag })]))).toMatchObject({
        status: STATUS.invalid,
      });
    await answersOthers(address);
  });
});

describe('headers', () => {
  /** The headers of a call, with some before and behind those that are not pseudo-headers. */
  const block = (pseudo: Fields, more: Fields) => {
    const { ':method': method, ':path': path, ...rest } = callHeaders();
    const own: Fields = [
      [':scheme', 'http'],
      [':authority', 'localhost'],
      [':method', String(method)],
      [':path', String(path)],
    ];
    const plain = Object.entries(rest).map(([name, value]) => [name, String(value)] as const);
    return Buffer.concat([...own, ...pseudo, ...plain, ...more].map(([name, value]) => literal(name, value)));
  };
  type Fields = readonly (readonly [string, string])[];

  it.each<[string, Fields, Fields]>([
    ['a path twice', [[':path', '/b']], []],
    ['a method twice', [[':method', 'GET']], []],
    ['an unknown pseudo-header', [[':odd', 'x']], []],
    ['a pseudo-header of answers', [[':status', '200']], []],
    ['a pseudo-header behind the others', [], [[':path', '/b']]],
    ['a name with capital letters', [], [['X-Odd', 'x']]],
    ['a header of connections', [], [['connection', 'close']]],
  ])('with %s begin no call, and disturb no other', async (_, pseudo, more) => {
    const { port, address } = await serve();
    const connection = new RawConnection(port);
    connection.write(TYPE.headers, 1, block(pseudo, more), FLAG.endHeaders);
    connection.write(ANSWER.data, 1, whole(), FLAG.endStream);
    await expect
      .poll(() => connection.frames(ANSWER.reset).length > 0 || connection.socket.destroyed, { timeout: 5_000 })
      .toBe(true);
    expect(connection.frames(ANSWER.data)).toEqual([]);
    await answersOthers(address);
  });

  it('with a line break disturb no call', async () => {
    const { port, address } = await serve();
    const connection = new RawConnection(port);
    connection.write(TYPE.headers, 1, block([], [['x-request-id', 'a\r\nx-injected: b']]), FLAG.endHeaders);
    connection.write(ANSWER.data, 1, whole(), FLAG.endStream);
    await expect.poll(() => connection.frames(ANSWER.data).length).toBeGreaterThan(0);
    await answersOthers(address);
  });

  it.each(['!!!', 'a', 'ab=c', '=', 'w6=', 'x'.repeat(500)])(
    'of bytes that are "%s" disturb no call',
    async (value) => {
      const { port, address } = await serve();
      const headers = callHeaders('SendMessage', { 'x-odd-bin': value, 'grpc-status-details-bin': value });
      expect(await answerOf(rawCall(rawSession(port), [whole()], { headers }))).toMatchObject({ status: STATUS.ok });
      await answersOthers(address);
    },
  );

  it('after the message are trailers, which disturb no call', async () => {
    const { port, address } = await serve();
    const connection = new RawConnection(port);
    connection.begin(1, { headers: { ':path': '/lf.a2a.v1.A2AService/SendMessage' } });
    connection.write(ANSWER.data, 1, whole());
    const trailers = Buffer.concat([literal('grpc-status', '13'), literal('x-more', 'x')]);
    connection.write(TYPE.headers, 1, trailers, FLAG.endHeaders | FLAG.endStream);
    await expect.poll(() => connection.frames(ANSWER.data).length).toBeGreaterThan(0);
    await answersOthers(address);
  });

  it('after the message with a path are no second call', async () => {
    const { port, address } = await serve();
    const connection = new RawConnection(port);
    connection.begin(1, { headers: { ':path': '/lf.a2a.v1.A2AService/SendMessage' } });
    connection.write(ANSWER.data, 1, whole());
    connection.write(TYPE.headers, 1, headerBlock(callHeaders('ListTasks')), FLAG.endHeaders | FLAG.endStream);
    await expect.poll(() => connection.frames(ANSWER.reset).length > 0 || connection.socket.destroyed).toBe(true);
    await answersOthers(address);
  });
});

describe('a stream that its client cancels', () => {
  it('at any moment leaves no turn, no stream and no reader behind', { timeout: 60_000 }, async () => {
    const { port, address } = await serve();
    const session = rawSession(port);
    const headers = callHeaders('SendStreamingMessage');
    const pieces = frame(sendMessageBytes('task'));
    for (let moment = 0; moment < 60; moment++) {
      const stream = rawCall(session, [], { headers, open: true });
      if (moment > 0) stream.write(pieces.subarray(0, moment % pieces.length));
      if (moment >= 20) {
        stream.write(pieces.subarray(moment % pieces.length));
        stream.end();
      }
      if (moment >= 40) await new Promise((resolve) => stream.once('response', resolve));
      if (moment >= 50) await new Promise((resolve) => stream.once('data', resolve));
      stream.close(constants.NGHTTP2_CANCEL);
      await new Promise((resolve) => stream.once('close', resolve));
    }
    await answersOthers(address);
    const { value } = await new GrpcTester(address).call('ListTasks', { pageSize: 100 });
    const { tasks } = value as unknown as { readonly tasks: readonly object[] };
    expect(tasks.length).toBeGreaterThanOrEqual(20);
  });

  it('by a reset with a code that no one knows ends like any other', async () => {
    const { port, address } = await serve();
    const connection = new RawConnection(port);
    for (let stream = 1; stream < 40; stream += 2) {
      connection.begin(stream, { headers: { ':path': '/lf.a2a.v1.A2AService/SendStreamingMessage' } });
      connection.write(ANSWER.data, stream, frame(sendMessageBytes('task')), FLAG.endStream);
      connection.write(ANSWER.reset, stream, word(0xdeadbeef));
    }
    await answersOthers(address);
    connection.socket.destroy();
    await answersOthers(address);
  });
});
