import { describe, expect, it } from 'vitest';
import {
  type Client,
  ConnectionError,
  connect,
  IDEMPOTENT_SEND_EXTENSION,
} from '../../packages/parley/src/exports/client.js';
import { result, StubAgent, type StubAnswer, task } from './stub-agent.js';

const FAST = { firstMs: 1, longestMs: 1_000 };
const idempotent = { capabilities: { streaming: true, extensions: [{ uri: IDEMPOTENT_SEND_EXTENSION }] } };
const answered = result({ task: task() });
const answerBusy = (status: number, retryAfter?: string): StubAnswer => ({
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  body: { message: 'later' },
});
const breakConnection: StubAnswer = (_, socket) => socket.destroy();

/** A stub that fails once in this way, and then answers. */
const failOnce = (first: StubAnswer) => StubAgent.start(({ number }) => (number === 1 ? first : answered));

describe('a message is sent again', () => {
  it.each<readonly [string, StubAnswer]>([
    ['after 429 with Retry-After', answerBusy(429, '0')],
    ['after 503 with Retry-After', answerBusy(503, '0')],
    [
      'after an error that tells when to come back',
      {
        body: {
          jsonrpc: '2.0',
          id: 1,
          error: {
            code: -32603,
            message: 'x',
            data: [{ domain: 'a2a-protocol.org', reason: 'UNAVAILABLE' }, { retryDelay: '0.001s' }],
          },
        },
      },
    ],
  ])('%s, with the same id', async (_, first) => {
    await using stub = await failOnce(first);
    const client = await connect(stub.card(), { retry: FAST });
    expect(await client.sendMessage('hi')).toEqual({ task: task() });
    expect(stub.calls).toHaveLength(2);
    const [one, two] = stub.calls.map(
      ({ json }) => (json as unknown as { params: { message: unknown } }).params.message,
    );
    expect(one).toEqual(two);
  });

  it('when nothing of it was sent, over another interface where there is one', async () => {
    await using gone = await StubAgent.start(() => answered);
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    await using stub = await StubAgent.start(() => answered);
    const [here] = stub.card().supportedInterfaces;
    const there = { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
    const client = await connect(stub.card({ supportedInterfaces: [there, ...(here ? [here] : [])] }), { retry: FAST });
    expect(await client.sendMessage('hi')).toEqual({ task: task() });
    expect(client.agentInterface.url).toBe(stub.url);
    await client.sendMessage('hi');
    expect(stub.calls).toHaveLength(2);
  });

  it('as often as is allowed, when nobody listens', async () => {
    await using gone = await StubAgent.start(() => answered);
    const card = gone.card();
    await gone[Symbol.asyncDispose]();
    const tries: string[] = [];
    const client = await connect(card, {
      retry: { ...FAST, attempts: 2 },
      fetch: (url, init) => {
        tries.push(url);
        return fetch(url, init);
      },
    });
    const error: unknown = await client.sendMessage('hi').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', sent: false, message: expect.stringMatching(/ECONNREFUSED/) });
    expect(tries).toHaveLength(3);
    // Nothing but messages is.
    await expect(client.getTask('t1')).rejects.toThrow(ConnectionError);
    expect(tries).toHaveLength(4);
  });

  it.each<readonly [string, StubAnswer]>([
    ['a connection that broke', breakConnection],
    ['502', answerBusy(502)],
    ['504', { status: 504, body: 'gateway' }],
  ])('after %s only if the card promises that it does no harm, or the caller says so', async (_, first) => {
    await using promising = await failOnce(first);
    expect(await (await connect(promising.card(idempotent), { retry: FAST })).sendMessage('hi')).toEqual({
      task: task(),
    });
    await using allowed = await failOnce(first);
    const client = await connect(allowed.card(), { retry: { ...FAST, mayRepeat: true } });
    expect(await client.sendMessage('hi')).toEqual({ task: task() });
    await using other = await failOnce(first);
    await expect((await connect(other.card(), { retry: FAST })).sendMessage('hi')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(other.calls).toHaveLength(1);
  });

  it('also where the answer is a stream', async () => {
    await using stub = await failOnce(answerBusy(503, '0'));
    const client = await connect(stub.card(), { retry: FAST });
    const stream = client.sendStreamingMessage('hi');
    for await (const event of stream) expect(event).toEqual({ task: task() });
    expect(stub.calls).toHaveLength(2);
  });
});

describe('nothing is sent again', () => {
  it.each<readonly [string, StubAnswer, (client: Client) => Promise<unknown>]>([
    ['a message after 503 without Retry-After', answerBusy(503), (client) => client.sendMessage('hi')],
    [
      'a message after 429 that asks for more patience than there is',
      answerBusy(429, '3600'),
      (client) => client.sendMessage('hi'),
    ],
    ['a message after 500', answerBusy(500, '0'), (client) => client.sendMessage('hi')],
    [
      'a message that was refused',
      { body: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'x' } } },
      (client) => client.sendMessage('hi'),
    ],
    ['a read after 503 with Retry-After', answerBusy(503, '0'), (client) => client.getTask('t1')],
    ['a cancellation after a broken connection', breakConnection, (client) => client.cancelTask('t1')],
  ])('%s', async (_, first, call) => {
    await using stub = await failOnce(first);
    const client = await connect(stub.card(idempotent), { retry: { ...FAST, mayRepeat: false } });
    await expect(call(client)).rejects.toThrow();
    expect(stub.calls).toHaveLength(1);
  });

  it('after the caller has given up', async () => {
    const controller = new AbortController();
    await using stub = await StubAgent.start(() => {
      controller.abort(new Error('enough'));
      return answerBusy(429, '600');
    });
    const client = await connect(stub.card(), { retry: { longestMs: 3_600_000 } });
    await expect(client.sendMessage('hi', { signal: controller.signal })).rejects.toThrow('enough');
    expect(stub.calls).toHaveLength(1);
  });
});

it('a call that takes too long is ended', async () => {
  await using stub = await StubAgent.start(() => () => {});
  const client = await connect(stub.card());
  await expect(client.getTask('t1', { timeoutMs: 20 })).rejects.toMatchObject({ name: 'TimeoutError' });
  await expect(client.sendStreamingMessage('hi', { timeoutMs: 20 }).next()).rejects.toMatchObject({
    name: 'TimeoutError',
  });
});
