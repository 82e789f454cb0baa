import { afterEach, describe, expect, it, vi } from 'vitest';
import { CAPNWEB_BINDING } from '../../packages/capnweb/src/binding/binding-uris.js';
import { CapnwebClientTransport } from '../../packages/capnweb/src/binding/capnweb-client-transport.js';
import type { ClientSocket } from '../../packages/capnweb/src/binding/client-socket.js';
import type { SchemesByName } from '../../packages/capnweb/src/binding/in-band-credential.js';
import { wsClients } from '../../packages/capnweb/src/sockets/ws-client-socket.js';
import { openWebSocket } from '../../packages/parley/src/bindings/http/web-socket-port.js';
import type { TransportCall } from '../../packages/parley/src/client/client-transport.js';
import { A2AError } from '../../packages/parley/src/errors/a2a-error.js';
import { ConnectionError } from '../../packages/parley/src/errors/connection-error.js';
import { TaskNotFoundError } from '../../packages/parley/src/errors/spec-errors.js';
import { UnauthenticatedError } from '../../packages/parley/src/errors/standard-errors.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { TurnBudget } from '../../packages/parley/src/runtime/turn-budget.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { ManualClock } from '../../packages/parley/test/manual-clock.js';
import { CapnwebPeer, PeerSubscription, peerError } from '../support/capnweb-peer.js';

const task = (id: string) => ({ id, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } });
const getTask = (id: string): TransportCall<'getTask'> => ({
  operation: 'getTask',
  request: { id },
  extensions: [],
  headers: {},
});
const subscribe = (more: Partial<TransportCall> = {}): TransportCall<'subscribeToTask'> => ({
  operation: 'subscribeToTask',
  request: { id: 't' },
  extensions: [],
  headers: {},
  ...(more as object),
});

const platforms: Readonly<Record<string, (address: string, signal: AbortSignal) => Promise<ClientSocket>>> = {
  ws: async (address, signal) => {
    const open = wsClients({ clock: systemClock, logger: silentLogger });
    if (open === undefined) throw new Error('the package ws is missing');
    return open(address, { isPublicOnly: false, messageBytes: 1_000_000, signal });
  },
  'the WebSocket of the web': (address, signal) => openWebSocket(new WebSocket(address), signal),
};

const opened: CapnwebClientTransport[] = [];
const peers: CapnwebPeer[] = [];
const clock = new ManualClock();

afterEach(async () => {
  for (const transport of opened.splice(0)) transport.close();
  for (const peer of peers.splice(0)) await peer[Symbol.asyncDispose]();
});

describe.each(Object.entries(platforms))('sessions over %s', (_, connect) => {
  function transportTo(url: string, schemes?: SchemesByName, pingMs = 1_000_000): CapnwebClientTransport {
    const transport = new CapnwebClientTransport({
      agentInterface: { url, protocolBinding: CAPNWEB_BINDING, protocolVersion: '1.0' },
      schemes,
      connect: (signal) => connect(url, signal),
      clock,
      turn: new TurnBudget(clock, 10),
      settings: {
        connectMs: 5_000,
        answerMs: 60_000,
        pingMs,
        idleMs: 10_000,
        frameBytes: 1_000_000,
        frameItems: 100_000,
      },
    });
    opened.push(transport);
    return transport;
  }

  async function peerOf(...script: Parameters<typeof CapnwebPeer.open>): Promise<CapnwebPeer> {
    const peer = await CapnwebPeer.open(...script);
    peers.push(peer);
    return peer;
  }

  it('a call goes out with the login, in one flight, and calls share a socket', async () => {
    const peer = await peerOf({ methods: { getTask: ({ id }: { id: string }) => task(id) } });
    const transport = transportTo(peer.url);
    expect(await Promise.all([transport.call(getTask('a')), transport.call(getTask('b'))])).toEqual([
      task('a'),
      task('b'),
    ]);
    expect(await transport.call(getTask('c'))).toEqual(task('c'));
    expect(peer.connections).toBe(1);
    expect(peer.hellos).toEqual([{ parameters: { 'A2A-Version': '1.0' } }]);
    // The first answer to the client is the release of its login.
    const calls = peer.frames.findIndex((frame) => frame.includes('getTask'));
    const answers = peer.frames.findIndex((frame) => frame.includes('release'));
    expect(calls).toBeLessThan(answers);
  });

  it('parameters, extensions and the tenant arrive, and credentials only in the login', async () => {
    const seen: unknown[] = [];
    const peer = await peerOf({
      methods: {
        getTask: (request: object, options: object) => {
          seen.push(structuredClone(request), structuredClone(options));
          return task('t');
        },
      },
    });
    const transport = transportTo(peer.url, { login: { httpAuthSecurityScheme: { scheme: 'bearer' } } });
    await transport.call({
      ...getTask('t'),
      request: { id: 't', tenant: 'x' },
      extensions: ['https://e.example/a'],
      headers: { traceparent: '00-1', authorization: 'Bearer pl4nted-s3cret' },
    });
    expect(peer.hellos).toEqual([
      {
        parameters: { 'A2A-Version': '1.0' },
        tenant: 'x',
        credential: { scheme: 'login', value: 'pl4nted-s3cret' },
      },
    ]);
    expect(seen).toEqual([
      { id: 't', tenant: 'x' },
      { parameters: { traceparent: '00-1', 'a2a-extensions': 'https://e.example/a' } },
    ]);
  });

  it('an error arrives as the error that the agent threw', async () => {
    const peer = await peerOf({
      methods: {
        getTask: () => {
          throw peerError('TASK_NOT_FOUND', {
            details: [
              { '@type': 'x', reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org', metadata: { taskId: 't' } },
            ],
            retryAfterMs: 20,
          });
        },
      },
    });
    const error = await transportTo(peer.url)
      .call(getTask('t'))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskNotFoundError);
    expect(error).toMatchObject({ code: 'TASK_NOT_FOUND', details: { metadata: { taskId: 't' }, retryAfterMs: 20 } });
  });

  it('a refused login is the error of the call, and the next call logs in again', async () => {
    let isRefused = true;
    const peer = await peerOf({
      authenticate: () => {
        if (isRefused) throw peerError('UNAUTHENTICATED');
      },
      methods: { getTask: ({ id }: { id: string }) => task(id) },
    });
    const transport = transportTo(peer.url);
    await expect(transport.call(getTask('a'))).rejects.toBeInstanceOf(UnauthenticatedError);
    isRefused = false;
    expect(await transport.call(getTask('a'))).toEqual(task('a'));
    await vi.waitFor(() => expect(peer.sockets.size).toBe(1), 15_000);
  });

  it('an aborted call is given up, and the others of its session go on', async () => {
    const held = Promise.withResolvers<unknown>();
    const peer = await peerOf({
      methods: { getTask: ({ id }: { id: string }) => (id === 'slow' ? new Promise(() => {}) : held.promise) },
    });
    const transport = transportTo(peer.url);
    const controller = new AbortController();
    const slow = transport.call({ ...getTask('slow'), signal: controller.signal });
    const other = transport.call(getTask('other'));
    await vi.waitFor(() => expect(peer.frames.join()).toContain('other'), 15_000);
    controller.abort(new Error('enough'));
    await expect(slow).rejects.toThrow('enough');
    await vi.waitFor(() => expect(peer.frames.join()).toContain('release'), 15_000);
    held.resolve(task('other'));
    expect(await other).toEqual(task('other'));
    expect(peer.connections).toBe(1);
  });

  it('a call without an answer ends after a time', async () => {
    const peer = await peerOf({ methods: { getTask: () => new Promise(() => {}) } });
    const call = transportTo(peer.url).call(getTask('a'));
    const outcome = call.catch((error: unknown) => error);
    await vi.waitFor(() => expect(peer.frames.join()).toContain('getTask'), 15_000);
    await clock.advance(61_000);
    expect(await outcome).toMatchObject({ name: 'ConnectionError', sent: true });
  });

  it('tells whether a call may have been sent', async () => {
    const peer = await peerOf({ methods: { getTask: () => new Promise(() => {}) } });
    const { url } = peer;
    const transport = transportTo(url);
    const lost = transport.call(getTask('a')).catch((error: unknown) => error);
    await vi.waitFor(() => expect(peer.frames.join()).toContain('getTask'), 15_000);
    for (const socket of peer.sockets) socket.terminate();
    expect(await lost).toMatchObject({ name: 'ConnectionError', code: 'UNAVAILABLE', sent: true });
    await peer[Symbol.asyncDispose]();
    const unreached = await transport.call(getTask('a')).catch((error: unknown) => error);
    expect(unreached).toBeInstanceOf(ConnectionError);
    expect(unreached).toMatchObject({ sent: false });
  });

  it('a session with another token of the same scheme is renewed, and its streams go on', async () => {
    const renewed: unknown[] = [];
    const peer = await peerOf({
      methods: {
        getTask: ({ id }: { id: string }) => task(id),
        renew: (credential: object) => void renewed.push(structuredClone(credential)),
      },
    });
    const transport = transportTo(peer.url, { login: { httpAuthSecurityScheme: { scheme: 'bearer' } } });
    const as = (token: string) => ({ ...getTask('a'), headers: { authorization: `Bearer ${token}` } });
    await transport.call(as('pl4nted-s3cret-1'));
    await Promise.all([transport.call(as('pl4nted-s3cret-2')), transport.call(as('pl4nted-s3cret-2'))]);
    expect(renewed).toEqual([{ scheme: 'login', value: 'pl4nted-s3cret-2' }]);
    expect(peer.connections).toBe(1);
  });

  it('a session that does not take the new token is replaced', async () => {
    const peer = await peerOf({
      methods: {
        getTask: ({ id }: { id: string }) => task(id),
        renew: () => {
          throw peerError('PERMISSION_DENIED');
        },
      },
    });
    const transport = transportTo(peer.url, { login: { httpAuthSecurityScheme: { scheme: 'bearer' } } });
    const as = (token: string) => ({ ...getTask('a'), headers: { authorization: `Bearer ${token}` } });
    await transport.call(as('pl4nted-s3cret-1'));
    await transport.call(as('pl4nted-s3cret-2'));
    expect(peer.hellos.map(({ credential }) => credential?.value)).toEqual(['pl4nted-s3cret-1', 'pl4nted-s3cret-2']);
    await vi.waitFor(() => expect(peer.sockets.size).toBe(1), 15_000);
  });

  it('an idle session closes, and a later call opens a new one', async () => {
    const peer = await peerOf({ methods: { getTask: ({ id }: { id: string }) => task(id) } });
    const transport = transportTo(peer.url);
    await transport.call(getTask('a'));
    await clock.advance(9_000);
    await transport.call(getTask('a'));
    await clock.advance(9_000);
    expect(peer.sockets.size).toBe(1);
    await clock.advance(2_000);
    await vi.waitFor(() => expect(peer.sockets.size).toBe(0), 15_000);
    await transport.call(getTask('a'));
    expect(peer.connections).toBe(2);
  });

  describe('streams', () => {
    const feed = (items: readonly unknown[], rest: 'closes' | 'waits' = 'closes', closed = () => {}) => ({
      events: new ReadableStream({
        start: (controller) => {
          for (const item of items) controller.enqueue(item);
          if (rest === 'closes') controller.close();
        },
      }),
      subscription: new PeerSubscription(closed),
    });
    const item = (seq: number) => ({ seq, event: { task: task(`t${seq}`) } });

    it('bring events with their numbers as ids, after the last id', async () => {
      const requests: unknown[] = [];
      const peer = await peerOf({
        methods: {
          subscribeToTask: (request: object) => {
            requests.push(structuredClone(request));
            return feed([item(5), item(6)]);
          },
        },
      });
      const { first, events } = await transportTo(peer.url).stream(subscribe({ lastEventId: '4' }));
      expect(requests).toEqual([{ id: 't', after: 4 }]);
      expect(first.value).toEqual([{ id: '5', event: { task: task('t5') } }]);
      expect((await events.next()).value).toEqual([{ id: '6', event: { task: task('t6') } }]);
      expect((await events.next()).done).toBe(true);
      expect((await events.next()).done).toBe(true);
    });

    it('a lost connection is an error, and no end', async () => {
      const peer = await peerOf({ methods: { subscribeToTask: () => feed([item(1)], 'waits') } });
      const { events } = await transportTo(peer.url).stream(subscribe());
      const next = events.next().catch((error: unknown) => error);
      for (const socket of peer.sockets) socket.terminate();
      expect(await next).toMatchObject({ name: 'ConnectionError', sent: true });
      expect((await events.next()).done).toBe(true);
    });

    it('leaving one ends it at the agent at once, and not the session', async () => {
      let closed = 0;
      const peer = await peerOf({
        methods: {
          getTask: ({ id }: { id: string }) => task(id),
          subscribeToTask: () => feed([item(1)], 'waits', () => (closed += 1)),
        },
      });
      const transport = transportTo(peer.url);
      const { events } = await transport.stream(subscribe());
      const waiting = events.next();
      await events.return?.();
      expect((await waiting).done).toBe(true);
      await vi.waitFor(() => expect(closed).toBe(1), 15_000);
      expect(await transport.call(getTask('a'))).toEqual(task('a'));
      expect(peer.connections).toBe(1);
    });

    it('a signal ends a waiting read with its reason', async () => {
      const peer = await peerOf({ methods: { subscribeToTask: () => feed([item(1)], 'waits') } });
      const controller = new AbortController();
      const { events } = await transportTo(peer.url).stream(subscribe({ signal: controller.signal }));
      const next = events.next();
      controller.abort(new Error('enough'));
      await expect(next).rejects.toThrow('enough');
    });

    it('a quiet one shows that its connection is alive', async () => {
      const peer = await peerOf({ methods: { subscribeToTask: () => feed([item(1)], 'waits') } });
      const { events } = await transportTo(peer.url, undefined, 1_000).stream(subscribe());
      const next = events.next();
      await clock.advance(1_001);
      expect(await next).toEqual({ value: [], done: false });
    });

    it('an ended credential is a break, so that the client connects again', async () => {
      const peer = await peerOf({
        methods: {
          subscribeToTask: () => ({
            events: new ReadableStream({
              pull: (controller) => controller.error(peerError('UNAUTHENTICATED')),
            }),
            subscription: new PeerSubscription(() => {}),
          }),
        },
      });
      const error = await transportTo(peer.url)
        .stream(subscribe())
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'ConnectionError', sent: true });
    });

    it.each([
      ['no feed', { task: 1 }],
      ['nothing', undefined],
      ['a text', 'text'],
    ])('%s in place of a feed is refused', async (_name, answer) => {
      const peer = await peerOf({ methods: { subscribeToTask: () => answer } });
      await expect(transportTo(peer.url).stream(subscribe())).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    });

    it('an item without an event is refused', async () => {
      const peer = await peerOf({ methods: { subscribeToTask: () => feed([{ seq: 1 }], 'waits') } });
      await expect(transportTo(peer.url).stream(subscribe())).rejects.toMatchObject({ code: 'INVALID_AGENT_RESPONSE' });
    });
  });

  it.each([
    ['no JSON', 'text'],
    ['an unknown message', '["remap",0]'],
    ['an unknown expression', '["resolve",2,["date",1]]'],
    ['a frame beyond the limit', `["resolve",2,"${'x'.repeat(1_100_000)}"]`],
    ['a deep value', `["resolve",2,${'[['.repeat(200)}${']]'.repeat(200)}]`],
    ['bytes', Buffer.from([1])],
    ['an answer with a function', '["resolve",2,["export",-1]]'],
  ])('a hostile agent that sends %s loses its session, and the process goes on', async (_name, frame) => {
    const peer = await CapnwebPeer.raw((socket) => {
      socket.on('message', (data) => {
        if (String(data).includes('"pull",2')) socket.send(frame);
      });
    });
    peers.push(peer);
    const error = await transportTo(peer.url)
      .call(getTask('a'))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(A2AError);
    expect(['UNAVAILABLE', 'INVALID_AGENT_RESPONSE']).toContain((error as A2AError).code);
  });

  it('a path that swallows everything is found by pings', async () => {
    const peer = await peerOf({ methods: { getTask: () => new Promise(() => {}) } });
    const call = transportTo(peer.url, undefined, 1_000).call(getTask('a'));
    const outcome = call.catch((error: unknown) => error);
    await vi.waitFor(() => expect(peer.frames.join()).toContain('getTask'), 15_000);
    for (const socket of peer.sockets) socket.pause();
    await clock.advance(3_001);
    expect(await outcome).toMatchObject({ name: 'ConnectionError', sent: true });
  });
});
