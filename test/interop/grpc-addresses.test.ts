import { once } from 'node:events';
import { createServer } from 'node:net';
import { connect } from 'parley-a2a/client';
import { grpcTransport } from 'parley-a2a-grpc';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { ExampleServer } from './example-server.js';
import { type Body, Wire } from './wire.js';

/** The addresses of gRPC in a card, by the version of the interface. */
function addressesIn(card: Body): Readonly<Record<string, string>> {
  const current = (card.supportedInterfaces as readonly Body[]).filter((one) => one.protocolBinding === 'GRPC');
  return Object.fromEntries(current.map(({ protocolVersion, url }) => [String(protocolVersion), String(url)]));
}

const cardOf = async (server: ExampleServer, headers = {}) =>
  (await new Wire(server.url).send('/.well-known/agent-card.json', { unversioned: true, headers })).body;

/** Takes a port of loopback for the test; false if another process has it. */
async function isTaken(port: number): Promise<boolean> {
  const other = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void other.close());
  return once(other, 'listening').then(
    () => true,
    () => false,
  );
}

describe('gRPC of the example agents without GRPC_PORT', () => {
  it('has the port after that of HTTP', async () => {
    // Another process may take the port after a free one first.
    for (let attempt = 1; ; attempt++) {
      await using server = await ExampleServer.start();
      const expected = `127.0.0.1:${server.port + 1}`;
      const card = await cardOf(server);
      if (addressesIn(card)['1.0'] !== expected && attempt < 10) continue;
      expect(addressesIn(card)).toEqual({ '1.0': expected, '0.3': `http://${expected}` });
      const old = (card.additionalInterfaces as readonly Body[]).filter(({ transport }) => transport === 'GRPC');
      expect(old.map(({ url }) => url)).toEqual([`http://${expected}`]);
      return;
    }
  });

  it('has another port if that one is taken', async () => {
    let port = await freePort();
    while (!(await isTaken(port + 1))) port = await freePort();
    await using server = await ExampleServer.start({ port });
    const addresses = addressesIn(await cardOf(server));
    expect(addresses['1.0']).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(addresses['1.0']).not.toBe(`127.0.0.1:${port + 1}`);
    const client = await connect(server.url, { binding: 'GRPC', bindings: [grpcTransport()] });
    onTestFinished(() => client.close());
    expect(await client.sendMessage('hi')).toHaveProperty('task');
  });
});

/** Spellings of an address that agents have in their cards. */
const SPELLINGS = [
  (place: string) => place,
  (place: string) => `http://${place}`,
  (place: string) => `HTTP://${place}/`,
  (place: string) => `dns:${place}`,
  (place: string) => `dns:///${place}`,
  (place: string) => place.replace('127.0.0.1', 'localhost'),
];

describe.each(['1.0', '0.3'])('our client with a card of %s', (version) => {
  let server: ExampleServer;
  beforeAll(async () => {
    server = await ExampleServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it.each(SPELLINGS.map((spell) => ({ title: spell('127.0.0.1:<port>'), spell })))(
    'calls $title over gRPC',
    async ({ spell }) => {
      const place = addressesIn(await cardOf(server))['1.0'] ?? '';
      const described = await cardOf(server, { 'a2a-version': version });
      const url = spell(place);
      const { supportedInterfaces, additionalInterfaces, ...card } = described;
      const { client, binding } = await connectTo(
        version === '1.0'
          ? { ...card, supportedInterfaces: [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }] }
          : { ...card, url, preferredTransport: 'GRPC' },
      );
      expect([binding, client.agentInterface.protocolVersion]).toEqual(['GRPC', version]);
      expect(await client.sendMessage('hi')).toMatchObject({
        task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } },
      });
    },
  );
});

/** A client for a card; closed after the test. */
async function connectTo(card: object) {
  const client = await connect(card as Parameters<typeof connect>[0], { bindings: [grpcTransport()] });
  onTestFinished(() => client.close());
  return { client, binding: client.agentInterface.protocolBinding };
}
