import { describe, expect, it } from 'vitest';
import { GrpcTester, message, serve } from './grpc-world.js';
import { ANSWER, encodeSetting, FLAG, literal, RawConnection, word } from './raw-connection.js';
import { ACK, callHeaders, frame, http2Frame, PREFACE, sendMessageBytes, TYPE } from './raw-http2.js';

const INITIAL_WINDOW = 4;
const MB = 1_000_000;
const FAST = { keepAliveMs: 60_000, stallMs: 300, idleMs: 300, headersMs: 300, requestMs: 300 };

/** The server answers other clients as if nothing had happened. */
async function answersOthers(address: string): Promise<void> {
  const { value } = await new GrpcTester(address).call('SendMessage', { message: message('still there') });
  expect(value).toMatchObject({ message: { parts: [{ text: 'You said: still there' }] } });
}

/** An agent whose answer is as long as it is told. */
const lengthy = {
  replies: 'either',
  async execute({ text }: { readonly text: string }, events: { message(text: string): Promise<unknown> }) {
    await events.message('x'.repeat(Number(text)));
  },
} as const;

/** The bytes of a whole call on a stream. */
function calls(connection: RawConnection, stream: number, text: string): void {
  connection.begin(stream, { headers: { ':path': '/lf.a2a.v1.A2AService/SendMessage' } });
  connection.write(ANSWER.data, stream, frame(sendMessageBytes(text)), FLAG.endStream);
}

/** Does the same on stream after stream, until the server ends the connection. */
async function onNewStreams(connection: RawConnection, act: (stream: number) => void): Promise<void> {
  for (let stream = 1; !connection.socket.destroyed; stream += 2) {
    act(stream);
    if (stream % 100 === 1) await new Promise(setImmediate);
  }
}

describe('a client that takes nothing', () => {
  it.each([
    ['a short answer', '10'],
    ['a long answer', '1000000'],
  ])('of %s to a unary call is dropped after a while', async (_, length) => {
    const { port } = await serve({ agent: lengthy as never }, FAST);
    const connection = new RawConnection(port, { settings: encodeSetting(INITIAL_WINDOW, 0) });
    calls(connection, 1, length);
    await expect.poll(() => connection.frames(ANSWER.reset).map(({ stream }) => stream)).toEqual([1]);
    // Without calls the connection is idle.
    await connection.closed;
  });

  it('of a long answer keeps it if it takes some now and then', async () => {
    const { port } = await serve({ agent: lengthy as never }, { ...FAST, stallMs: 500, requestMs: 60_000 });
    const connection = new RawConnection(port, { settings: encodeSetting(INITIAL_WINDOW, 0) });
    calls(connection, 1, '400000');
    const countTaken = () => connection.frames(ANSWER.data).reduce((sum, { payload }) => sum + payload.length, 0);
    const begun = performance.now();
    for (let given = 0; given < 500_000; given += 70_000) {
      await expect.poll(() => countTaken() >= Math.min(given, 400_000), { interval: 5 }).toBe(true);
      connection.write(ANSWER.window, 1, word(70_000));
      connection.write(ANSWER.window, 0, word(70_000));
      await expect.poll(() => performance.now() - begun > (given / 70_000) * 150, { interval: 10 }).toBe(true);
    }
    await expect.poll(() => connection.frames(ANSWER.headers).length).toBe(2);
    expect(countTaken()).toBeGreaterThan(400_000);
    expect(connection.frames(ANSWER.reset)).toEqual([]);
  });
});

describe('a request that is refused', () => {
  it('and never ends holds no connection', async () => {
    const { port, address } = await serve({}, FAST);
    const connection = new RawConnection(port);
    for (let stream = 1; stream < 40; stream += 2) connection.begin(stream, { headers: { ':method': 'GET' } });
    for (let stream = 41; stream < 80; stream += 2) connection.begin(stream, { headers: { 'content-type': 'text/x' } });
    await connection.closed;
    expect(connection.frames(ANSWER.headers).length).toBe(40);
    await answersOthers(address);
  });

  it.each([
    ['by its method', { ':method': 'GET' }],
    ['by its type', { 'content-type': 'text/plain' }],
    ['by its timeout', { 'grpc-timeout': 'soon' }],
    ['by its encoding', { 'grpc-encoding': 'br' }],
    ['as an unknown method', { ':path': '/nothing/Here' }],
    ['for its metadata', Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`x-${at}`, 'x'.repeat(120)]))],
  ])('%s and taken back again and again ends its connection', async (_, headers) => {
    const { port, address } = await serve({}, { maxMetadataBytes: 4_000 });
    const connection = new RawConnection(port);
    await onNewStreams(connection, (stream) => {
      connection.begin(stream, { headers });
      connection.write(ANSWER.reset, stream, word(8));
    });
    await answersOthers(address);
  });
});

describe('a call that the client makes the server reset', () => {
  it.each([
    [
      'by a window of zero',
      (connection: RawConnection, stream: number) => connection.write(ANSWER.window, stream, word(0)),
    ],
    [
      'by a window that is too large',
      (connection: RawConnection, stream: number) => connection.write(ANSWER.window, stream, word(0x7fffffff)),
    ],
    [
      'by a stream that depends on itself',
      (connection: RawConnection, stream: number) =>
        connection.write(ANSWER.priority, stream, Buffer.concat([word(stream), Buffer.from([1])])),
    ],
    [
      'by a priority of a wrong length',
      (connection: RawConnection, stream: number) => connection.write(ANSWER.priority, stream, Buffer.alloc(4)),
    ],
    [
      'by data after its end',
      (connection: RawConnection, stream: number) => connection.write(ANSWER.data, stream, Buffer.alloc(10)),
    ],
  ])('%s, again and again, ends its connection', async (_, break_) => {
    const { port, address } = await serve();
    const connection = new RawConnection(port);
    await onNewStreams(connection, (stream) => {
      calls(connection, stream, 'task');
      break_(connection, stream);
    });
    await answersOthers(address);
  });
});

describe('a client that breaks the rules of HTTP/2', () => {
  it('by not acknowledging settings has the same limit of calls', async () => {
    const { port } = await serve({}, { maxStreams: 5 });
    const connection = new RawConnection(port);
    for (let stream = 1; stream < 41; stream += 2) connection.begin(stream);
    await expect.poll(() => connection.frames(ANSWER.reset).length).toBe(15);
    expect(connection.frames(ANSWER.reset).every(({ payload }) => payload.readUInt32BE(0) === 7)).toBe(true);
  });

  it.each([
    ['an even stream', (connection: RawConnection) => connection.begin(2)],
    ['a promise of a push', (connection: RawConnection) => connection.write(ANSWER.push, 1, word(2), FLAG.endHeaders)],
    ['data on no stream', (connection: RawConnection) => connection.write(ANSWER.data, 0, Buffer.alloc(10))],
    ['a frame that is too long', (connection: RawConnection) => connection.write(ANSWER.data, 1, Buffer.alloc(20_000))],
    [
      'padding longer than its frame',
      (connection: RawConnection) => {
        connection.begin(1);
        connection.write(ANSWER.data, 1, Buffer.from([255, 0, 0]), FLAG.padded);
      },
    ],
    [
      'another frame between headers',
      (connection: RawConnection) => {
        connection.begin(1, { flags: 0 });
        connection.write(TYPE.ping, 0, Buffer.alloc(8));
      },
    ],
    [
      'an index that its table does not have',
      (connection: RawConnection) =>
        connection.write(TYPE.headers, 1, Buffer.from([0xff, 0xff, 0x7f]), FLAG.endHeaders),
    ],
    [
      'a goodbye with a fault',
      (connection: RawConnection) =>
        connection.write(ANSWER.goAway, 0, Buffer.concat([word(0), word(2), Buffer.from('bye')])),
    ],
    [
      'a window of the connection that is too large',
      (connection: RawConnection) => connection.write(ANSWER.window, 0, word(0x7fffffff)),
    ],
    [
      'a setting that no one may have',
      (connection: RawConnection) => connection.write(TYPE.settings, 0, encodeSetting(INITIAL_WINDOW, 0xffffffff)),
    ],
  ])('with %s is sent away, and others go on', async (_, attack) => {
    const { port, address } = await serve();
    const connection = new RawConnection(port);
    attack(connection);
    await connection.closed;
    await answersOthers(address);
  });

  it('with two prefaces, or half of one, is sent away', async () => {
    const { port, address } = await serve({}, FAST);
    const twice = new RawConnection(port);
    twice.socket.write(PREFACE);
    const half = new RawConnection(port, { preface: false });
    half.socket.write(PREFACE.subarray(0, 20));
    const slow = new RawConnection(port, { preface: false });
    for (const byte of PREFACE) slow.socket.write(Buffer.from([byte]));
    await Promise.all([twice.closed, half.closed, slow.closed]);
    await answersOthers(address);
  });
});

describe('a flood from raw frames', () => {
  const beginStream = (connection: RawConnection) => connection.begin(1);
  const repeatBytes = (bytes: Buffer) => Buffer.concat(Array.from({ length: 200 }, () => bytes));

  it.each([
    ['empty data', beginStream, [ANSWER.data, 1, Buffer.alloc(0), 0]],
    [
      'data that is all padding',
      beginStream,
      [ANSWER.data, 1, Buffer.concat([Buffer.from([255]), Buffer.alloc(255)]), FLAG.padded],
    ],
    ['data without a message', beginStream, [ANSWER.data, 1, Buffer.alloc(1), 0]],
    ['windows of one byte', beginStream, [ANSWER.window, 1, word(1), 0]],
    ['priorities', () => {}, [ANSWER.priority, 3, Buffer.concat([word(0), Buffer.from([1])]), 0]],
    ['goodbyes', () => {}, [ANSWER.goAway, 0, Buffer.concat([word(0), word(0), Buffer.alloc(1_000)]), 0]],
    [
      'resets of a stream that is over',
      (connection: RawConnection) => {
        beginStream(connection);
        connection.write(ANSWER.reset, 1, word(8));
      },
      [ANSWER.reset, 1, word(8), 0],
    ],
  ] as const)(
    'of %s ends its connection, and leaves no memory behind',
    { timeout: 60_000 },
    async (_, first, flood) => {
      const { port, address } = await serve({}, { requestMs: 2_000 });
      await answersOthers(address);
      const before = process.memoryUsage().arrayBuffers;
      const connection = new RawConnection(port);
      first(connection);
      const [type, stream, payload, flags] = flood;
      await connection.flood(repeatBytes(http2Frame(type, stream, payload, flags)));
      await answersOthers(address);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * MB);
    },
  );

  it('of headers that unfold from one entry of the table costs no memory', { timeout: 60_000 }, async () => {
    const { port, address } = await serve();
    await answersOthers(address);
    const before = process.memoryUsage();
    const connection = new RawConnection(port);
    // A literal that enters the table, and then its index again and again (RFC 7541 §6.1).
    const name = Buffer.from('x-bomb');
    const value = Buffer.alloc(120, 'x');
    const entry = Buffer.concat([Buffer.from([0x40, name.length]), name, Buffer.from([value.length]), value]);
    const fields = Object.entries({ ':scheme': 'http', ':authority': 'localhost', ...callHeaders('GetTask') }).map(
      ([key, text]) => literal(key, String(text)),
    );
    for (let stream = 1; stream < 400; stream += 2) {
      const bomb = Buffer.alloc(12_000, 0x80 | 62);
      connection.write(TYPE.headers, stream, Buffer.concat([...fields, entry, bomb]), FLAG.endHeaders | FLAG.endStream);
    }
    await answersOthers(address);
    expect(process.memoryUsage().rss - before.rss).toBeLessThan(100 * MB);
  });
});

describe('a client with a hundred calls', () => {
  it('takes them back and begins others, and none of these is refused', async () => {
    const { port } = await serve();
    const connection = new RawConnection(port);
    // Node.js counts a call that is taken back until it has read what came with that.
    for (let call = 0; call < 100; call++) connection.begin(2 * call + 1);
    await expect.poll(() => connection.frames(TYPE.settings).length).toBe(2);
    connection.write(TYPE.settings, 0, Buffer.alloc(0), ACK);
    connection.socket.cork();
    for (let call = 0; call < 100; call++) {
      connection.write(ANSWER.reset, 2 * call + 1, word(8));
      calls(connection, 201 + 2 * call, 'hello');
    }
    connection.socket.uncork();
    await connection.untilEnded(100);
    expect(connection.frames(ANSWER.reset)).toEqual([]);
  });
});
