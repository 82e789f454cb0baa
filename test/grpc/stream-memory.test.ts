import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { fromJson, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { afterTest, FILES, GrpcTester, message } from './grpc-world.js';
import { ANSWER, FLAG, headerBlock, RawConnection, word } from './raw-connection.js';
import { callHeaders, frame, sendMessageBytes } from './raw-http2.js';

const MB = 1_000_000;
/** Over one connection. With the fewer ones, a leak of 250 bytes in each call shows. */
const CALLS = process.env.TEST_LONG === undefined ? 20_000 : 100_000;
const CANCEL = 8;
const SEND = { headers: { ':path': '/lf.a2a.v1.A2AService/SendMessage' } };
const SUBSCRIBE = { headers: { ':path': '/lf.a2a.v1.A2AService/SubscribeToTask' } };

interface Memory {
  /** After a collection, in bytes. */
  readonly used: number;
  readonly rss: number;
  /** The largest resident size since the last question. */
  readonly highest: number;
}

/** A server in a process of its own, from what was built last. */
async function servedApart(options: object = {}) {
  const path = fileURLToPath(new URL('memory-server.mjs', import.meta.url));
  const child = fork(path, [JSON.stringify(options)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  afterTest(() => child.kill('SIGKILL'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const tester = new GrpcTester(`127.0.0.1:${port}`);
  return {
    port,
    tester,
    memory: async (): Promise<Memory> => {
      child.send('memory');
      const [memory] = (await once(child, 'message')) as [Memory];
      return memory;
    },
  };
}

type Served = Awaited<ReturnType<typeof servedApart>>;

/** Opens a connection that reads everything and keeps nothing. */
function greedy(port: number): RawConnection {
  const connection = new RawConnection(port, { keeps: false });
  connection.write(ANSWER.window, 0, word(0x7fffffff - 65_535));
  return connection;
}

function bytesOf(name: string, request: object): Uint8Array {
  const method = FILES.current.services[0]?.methods.find((one) => one.name === name);
  if (method === undefined) throw new Error(`no method ${name}`);
  return frame(toBinary(method.input, fromJson(method.input, request as never)));
}

async function taskOf({ tester }: Served, text: string): Promise<string> {
  const { value } = await tester.call('SendMessage', { message: message(text) });
  return (value as { task: { id: string } }).task.id;
}

/** Expects that the memory has returned to its former size. */
async function expectBack(served: Served, before: Memory, bound: number): Promise<void> {
  await expect
    .poll(async () => (await served.memory()).used - before.used, { timeout: 15_000, interval: 200 })
    .toBeLessThan(bound);
}

describe('the memory of calls that are over', { timeout: 300_000 }, () => {
  it(`comes back while ${CALLS} calls pass over one connection`, async () => {
    const served = await servedApart();
    const read = bytesOf('GetTask', { id: await taskOf(served, 'hi') });
    const connection = greedy(served.port);
    const headers = headerBlock(callHeaders('GetTask'));
    const atOnce = 100;
    let stream = 1;
    const pass = async (calls: number) => {
      const end = connection.ended + calls;
      while (connection.ended < end && !connection.socket.destroyed) {
        const wave = connection.ended + atOnce;
        connection.socket.cork();
        for (let call = 0; call < atOnce; call++, stream += 2) {
          connection.write(ANSWER.headers, stream, headers, FLAG.endHeaders);
          connection.write(ANSWER.data, stream, read, FLAG.endStream);
        }
        connection.socket.uncork();
        await connection.untilEnded(wave);
      }
    };
    await pass(5_000);
    const before = await served.memory();
    await pass(CALLS);
    expect(connection.ended).toBe(5_000 + CALLS);
    // The connection is still open: it is the streams that are over.
    const after = await served.memory();
    expect(after.used - before.used).toBeLessThan(5 * MB);
    // Node.js keeps closed streams until a full collection, so that the process is larger in between.
    expect(after.highest - before.rss).toBeLessThan(300 * MB);
  });

  it('comes back after connections that take back call after call', async () => {
    const served = await servedApart();
    await taskOf(served, 'hi');
    const before = await served.memory();
    for (let round = 0; round < 20; round++) {
      const connection = greedy(served.port);
      for (let stream = 1; !connection.socket.destroyed && stream < 20_000; stream += 2) {
        connection.begin(stream, SEND);
        if (stream % 4 === 1) connection.write(ANSWER.data, stream, frame(sendMessageBytes('hi')), FLAG.endStream);
        connection.write(ANSWER.reset, stream, word(CANCEL));
        if (stream % 100 === 1) await new Promise(setImmediate);
      }
      await connection.closed;
    }
    // Some of the messages became tasks, which stay.
    await expectBack(served, before, 20 * MB);
    await taskOf(served, 'hi');
  });

  it('comes back after calls, streams and connections that stay half open', async () => {
    const served = await servedApart({
      requestMs: 1_000,
      headersMs: 1_000,
      keepAliveMs: 1_000,
      keepAliveTimeoutMs: 500,
    });
    const waiting = await taskOf(served, 'wait');
    const before = await served.memory();
    const connections = Array.from({ length: 100 }, () => greedy(served.port));
    for (const [at, connection] of connections.entries()) {
      for (let stream = 1; stream < 100; stream += 2) {
        // A message that never ends, one that never begins, and a subscription that its client does not read.
        connection.begin(stream, stream % 3 === 0 ? SUBSCRIBE : SEND);
        if (stream % 3 === 0)
          connection.write(ANSWER.data, stream, bytesOf('SubscribeToTask', { id: waiting }), FLAG.endStream);
        if (stream % 3 === 1) connection.write(ANSWER.data, stream, frame(Buffer.alloc(9_000), { length: 10_000 }));
      }
      // It answers no ping from now on, and half of them close their end.
      if (at % 2 === 0) connection.socket.end();
      else connection.socket.pause();
    }
    await Promise.all(connections.filter((_, at) => at % 2 === 0).map(({ closed }) => closed));
    await expectBack(served, before, 5 * MB);
    await taskOf(served, 'hi');
  });
});
