import { afterEach, describe, expect, it } from 'vitest';
import { CAPNWEB_BATCH_BINDING, CAPNWEB_BINDING, capnwebTransport } from '../../packages/capnweb/src/index.js';
import type { ClientTransport, TransportCall } from '../../packages/parley/src/client/client-transport.js';
import { systemClock } from '../../packages/parley/src/exports/runtime.js';
import { TurnBudget } from '../../packages/parley/src/runtime/turn-budget.js';
import { CapnwebPeer } from '../support/capnweb-peer.js';

const getTask: TransportCall<'getTask'> = { operation: 'getTask', request: { id: 't' }, extensions: [], headers: {} };
const found = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
const interfaceAt = (url: string, protocolBinding = CAPNWEB_BINDING, protocolVersion = '1.0') => ({
  url,
  protocolBinding,
  protocolVersion,
});

const opened: ClientTransport[] = [];
afterEach(() => {
  for (const transport of opened.splice(0)) transport.close?.();
});

async function transportTo(url: string, { isTrusted = false, isInside = false } = {}): Promise<ClientTransport> {
  const transport = await capnwebTransport().transport(interfaceAt(url), {
    answerBytes: 1_000_000,
    eventBytes: 1_000_000,
    answerItems: 100_000,
    turn: new TurnBudget(systemClock, 10),
    isTrusted: () => isTrusted,
    isInside: async () => isInside,
    securitySchemes: { key: { apiKeySecurityScheme: { location: 'query', name: 'key' } } },
  });
  opened.push(transport);
  return transport;
}

describe('addresses of Cap’n Web', () => {
  it.each([
    ['wss://agent.example/capnweb', true],
    ['ws://127.0.0.1:3000/capnweb', true],
    ['ws://[::1]:3000/capnweb', true],
    ['ws://localhost/capnweb', true],
    ['ws://agent.example/capnweb', false],
    ['ws://10.0.0.1/capnweb', false],
    ['https://agent.example/capnweb', true],
    ['http://127.0.0.1:3000/capnweb', true],
    ['http://agent.example/capnweb', false],
    ['ftp://agent.example/capnweb', false],
    ['no address', false],
  ])('%s is called: %s', (url, isCalled) => {
    expect(capnwebTransport().speaks(interfaceAt(url))).toBe(isCalled);
  });

  it('without TLS need an option beyond loopback', () => {
    for (const url of ['ws://agent.example/capnweb', 'http://agent.example/capnweb'])
      expect(capnwebTransport({ plaintext: true }).speaks(interfaceAt(url))).toBe(true);
  });

  it('of another binding or version are not called', () => {
    const { speaks } = capnwebTransport();
    expect(speaks(interfaceAt('wss://agent.example', CAPNWEB_BATCH_BINDING))).toBe(false);
    expect(speaks(interfaceAt('wss://agent.example', CAPNWEB_BINDING, '0.3'))).toBe(false);
  });

  it.each(['127.0.0.1', 'localhost'])('at %s are private, so that only a caller may name them', async (host) => {
    await using peer = await CapnwebPeer.open({ methods: { getTask: () => found } });
    const url = peer.url.replace('127.0.0.1', host);
    const refused = await (await transportTo(url)).call(getTask).catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: expect.stringContaining('its address is not public') });
    expect(peer.connections).toBe(0);
    expect(await (await transportTo(url, { isTrusted: true })).call(getTask)).toEqual(found);
    expect(await (await transportTo(url, { isInside: true })).call(getTask)).toEqual(found);
  });

  it('never contain a credential', async () => {
    await using peer = await CapnwebPeer.open({ methods: { getTask: () => found } });
    const transport = await transportTo(`${peer.url}?a=b`, { isTrusted: true });
    await transport.call({ ...getTask, query: { key: 'pl4nted-s3cret' } });
    expect(peer.hellos[0]?.credential).toEqual({ scheme: 'key', value: 'pl4nted-s3cret' });
    expect(peer.addresses).toEqual(['/capnweb?a=b']);
  });
});

it('wrong options are named', () => {
  expect(() => capnwebTransport({ pingMs: 0, idleMs: 1.5 })).toThrow(/pingMs.*idleMs|idleMs.*pingMs/s);
});
