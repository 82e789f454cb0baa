import { execSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RawConnection } from '../../packages/parley/test/raw-connection.js';
import { AttackedServer, type Holdings } from './attacked-server.js';
import { BASE, BINDINGS, type Binding, callBytes, httpJsonBytes, requestBytes, rpcBytes } from './calls.js';
import { readError } from './error-answer.js';
import { readAnswer, readAnswers } from './http-answer.js';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let server: AttackedServer;
let before: Holdings;
beforeAll(async () => {
  server = await AttackedServer.start({ options: { http: { headersMs: 120_000 } } });
  before = await server.idleHoldings();
});
afterEach(() => server.mustBeAsBefore(before, { heapMiB: 16 }));
afterAll(() => server[Symbol.asyncDispose]());

const LIST = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}';
const sendParams = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
});

describe('pipelined requests', () => {
  it('are answered in their order, whatever each takes', async () => {
    const calls = Array.from({ length: 40 }, (_, id) => {
      if (id % 4 === 3) return httpJsonBytes('GET', `/tasks/none-${id}`);
      const body = {
        jsonrpc: '2.0',
        id,
        method: 'SendMessage',
        params: sendParams(id % 4 === 0 ? 'chunks 50' : 'hello'),
      };
      return requestBytes('POST', BASE, JSON.stringify(body));
    });
    using connection = await server.open(Buffer.concat(calls));
    const answers = await connection.take((bytes) => {
      const count = bytes.toString('latin1').split('HTTP/1.1 ').length - 1;
      return count === calls.length && bytes.at(-1) === 0x7d ? readAnswers(bytes) : undefined;
    });
    expect(answers.map(({ text }) => /"id":(\d+),"|none-(\d+)/.exec(text)?.slice(1).join(''))).toEqual(
      calls.map((_, id) => String(id)),
    );
  });

  it('behind one that is being answered are bounded, and the rest is refused', async () => {
    const more = Buffer.concat(Array.from({ length: 5_000 }, () => httpJsonBytes('GET', '/tasks/none')));
    using connection = await server.open(Buffer.concat([rpcBytes('SendMessage', sendParams('hold')), more]));
    await server.mustAnswer();
    expect(connection.bytes).toHaveLength(0);
    await server.release();
    await connection.untilEnd();
    const answers = readAnswers(connection.bytes);
    expect(answers[0]?.text).toContain('released');
    expect(answers.slice(1, -1).map(({ status }) => status)).toEqual(Array.from({ length: 64 }, () => 404));
    const last = answers.at(-1);
    expect(last?.headers.get('connection')).toBe('close');
    expect(last && readError(last).status).toBe(429);
  });

  it('before one that ends the connection get whole answers, also large ones to a slow reader', async () => {
    const answer = await server.answer(rpcBytes('SendMessage', sendParams('x'.repeat(400_000))));
    const large = httpJsonBytes(
      'GET',
      `/tasks/${(JSON.parse(answer.text) as { result: { task: { id: string } } }).result.task.id}`,
    );
    // Its body has not come when it is refused.
    const refused = requestBytes('POST', BASE, undefined, { host: 'a, b', 'transfer-encoding': 'chunked' });
    using connection = await server.open();
    connection.socket.pause();
    connection.socket.write(Buffer.concat([large, refused, Buffer.from('3\r\nabc\r\n0\r\n\r\n')]));
    await server.mustAnswer();
    connection.socket.write(httpJsonBytes('GET', '/tasks/none'));
    await server.mustAnswer();
    connection.socket.resume();
    await connection.untilEnd();
    expect(readAnswers(connection.bytes).map(({ status }) => status)).toEqual([200, 400]);
  });

  it.each(['another request', 'something else'])(
    'before one that asks for the end get whole answers, though %s follows',
    async (what) => {
      const answer = await server.answer(rpcBytes('SendMessage', sendParams('x'.repeat(400_000))));
      const { id } = (JSON.parse(answer.text) as { result: { task: { id: string } } }).result.task;
      const last = requestBytes('GET', `${BASE}/tasks/none`, undefined, { connection: 'close' });
      const more = what === 'another request' ? httpJsonBytes('GET', '/tasks/none') : Buffer.from('what?\r\n\r\n');
      using connection = await server.open();
      connection.socket.pause();
      connection.socket.write(Buffer.concat([httpJsonBytes('GET', `/tasks/${id}`), last, more]));
      await server.mustAnswer();
      connection.socket.write(more);
      await server.mustAnswer();
      connection.socket.resume();
      await connection.untilEnd();
      expect(
        readAnswers(connection.bytes)
          .map(({ status }) => status)
          .slice(0, 2),
      ).toEqual([200, 404]);
    },
  );

  it('may be many, as long as they are not all waiting', async () => {
    using connection = await server.open();
    const batch = Buffer.concat(Array.from({ length: 30 }, () => httpJsonBytes('GET', '/tasks/none')));
    for (let answers = 30; answers <= 600; answers += 30) {
      connection.socket.write(batch);
      await connection.take((bytes) =>
        bytes.toString().split('"reason":"TASK_NOT_FOUND"').length > answers ? true : undefined,
      );
    }
  });
});

describe('half-closed connections', () => {
  /** Sends and ends this side; resolves once the other side is closed, too. */
  async function halfClosed(bytes: Uint8Array): Promise<RawConnection> {
    const connection = await server.open();
    connection.socket.end(bytes);
    await connection.untilEnd();
    return connection;
  }

  it.each<readonly [string, Uint8Array]>([
    ['within the head', requestBytes('POST', BASE, LIST).subarray(0, 40)],
    ['within the body', requestBytes('POST', BASE, LIST).subarray(0, -5)],
    [
      'within a chunk',
      Buffer.from(
        `POST ${BASE} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab`,
      ),
    ],
  ])('%s are told so', async (_, bytes) => {
    using connection = await halfClosed(bytes);
    const answers = readAnswers(connection.bytes);
    expect(answers.map(({ status }) => status)).toEqual([400]);
    for (const answer of answers) readError(answer);
  });

  it('after a request count as left: nothing goes on but the task', async () => {
    for (const text of ['hello', 'hold']) {
      using connection = await halfClosed(rpcBytes('SendMessage', sendParams(text)));
      expect(readAnswers(connection.bytes).length).toBeLessThan(2);
    }
    await server.release();
  });
});

describe('many connections', () => {
  it('that are idle cost little and do not keep others from being answered', async () => {
    const files = Number(execSync('ulimit -n', { shell: '/bin/sh' }).toString());
    const count = Math.min(5_000, files - 500);
    if (count < 5_000)
      process.stdout.write(`Only ${count} idle connections: this machine allows ${files} open files\n`);
    const sockets: Socket[] = [];
    for (let at = 0; at < count; at += 250) {
      const batch = Array.from({ length: Math.min(250, count - at) }, () => connect(server.port, '127.0.0.1'));
      await Promise.all(batch.map((socket) => once(socket, 'connect')));
      sockets.push(...batch);
    }
    await server.mustAnswer();
    const during = await server.holdings();
    expect(during.resources.TCPSocketWrap).toBeGreaterThanOrEqual(count);
    expect((during.heapUsed - before.heapUsed) / count).toBeLessThan(16_384);
    for (const socket of sockets) socket.destroy();
  });

  it.each<readonly [string, Binding]>(BINDINGS.map((binding) => ['1,000 subscriptions', binding]))(
    '%s over %s that are reset at once leave nothing',
    async (_, binding) => {
      const asked = await server.answer(httpJsonBytes('POST', '/message:send', sendParams('ask')));
      const { id } = (JSON.parse(asked.text) as { task: { id: string } }).task;
      await resetAtOnce(1_000, () => callBytes('subscribeToTask', binding, { id }), /INPUT_REQUIRED/);
    },
  );

  it.each(BINDINGS)(
    '1,000 running agents over %s whose streams are reset at once go on, and leave nothing',
    async (binding) => {
      await resetAtOnce(1_000, () => callBytes('sendStreamingMessage', binding, sendParams('hold')), /"holding"/);
      await server.mustAnswer();
      await server.release();
    },
  );

  it.skipIf(acceptQueue() < 4_096)(
    'that come while the server does not get to accept them are all answered',
    async () => {
      server.freeze();
      const connections: RawConnection[] = [];
      try {
        // Connections beyond the accept queue open only after the server continues.
        for (let at = 0; at < 1_500; at++) connections.push(await server.open(httpJsonBytes('GET', '/tasks/none')));
      } finally {
        server.thaw();
      }
      for (const connection of connections) {
        using open = connection;
        expect((await open.take((bytes) => readAnswer(bytes, 0, 'GET'))).answer.status).toBe(404);
      }
    },
  );

  it('1,000 that are reset before anything came back leave nothing', async () => {
    await resetAtOnce(1_000, () => callBytes('sendStreamingMessage', 'JSON-RPC', sendParams('chunks 20')), undefined);
  });
});

async function resetAtOnce(count: number, bytes: () => Uint8Array, seen: RegExp | undefined): Promise<void> {
  const connections: RawConnection[] = [];
  for (let at = 0; at < count; at += 200) {
    connections.push(...(await Promise.all(Array.from({ length: 200 }, () => server.open(bytes())))));
  }
  if (seen !== undefined) await Promise.all(connections.map((connection) => connection.until(seen)));
  for (const { socket } of connections) socket.resetAndDestroy();
}

/** Connections that the system keeps at most until they are accepted; 0 where that is unknown. */
function acceptQueue(): number {
  const path = '/proc/sys/net/core/somaxconn';
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
}
