import { expect, it } from 'vitest';
import { grpcTransport } from '../../packages/grpc/src/index.js';
import { hostOf, originOf } from '../../packages/parley/src/client/credential-guard.js';
import { type CardCache, type ConnectOptions, connect } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import { plantSecret } from '../../packages/parley/test/planted-secrets.js';
import { StubAgent } from '../client/stub-agent.js';
import { GrpcStub, taskBytes } from '../client/stub-grpc.js';

/** A public address that is never called: its card is in the cache. */
const PUBLIC = 'http://93.184.216.34';
const CARD = '/.well-known/agent-card.json';
const TASK = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' as const } };
const TOKEN = plantSecret('grpc-address');

const startAnswering = () => GrpcStub.start({ unary: () => taskBytes(TASK) });

function cacheOf(card: object): CardCache {
  const text = JSON.stringify(card);
  return {
    get: (url) => (url === `${PUBLIC}${CARD}` ? { text, freshUntil: Number.POSITIVE_INFINITY } : undefined),
    set: () => {},
  };
}

function fromPublicCard(stub: GrpcStub, url: string, options: ConnectOptions = {}) {
  return connect(PUBLIC, { cardCache: cacheOf(stub.card({}, url)), bindings: [grpcTransport()], ...options });
}

it.each([
  (port: string) => `127.0.0.1:${port}`,
  (port: string) => `localhost:${port}`,
  (port: string) => `dns:localhost:${port}`,
  (port: string) => `dns:///localhost:${port}`,
  (port: string) => `http://127.0.0.1:${port}`,
  (port: string) => `0x7f.1:${port}`,
  (port: string) => `2130706433:${port}`,
  (port: string) => `[::ffff:127.0.0.1]:${port}`,
  (port: string) => `[::1]:${port}`,
  (port: string) => `https://localhost.:${port}`,
  (port: string) => `https://10.0.0.1:${port}`,
  () => '93.184.216.35:22',
])('a public card cannot lead to a private address or to another protocol (%#)', async (place) => {
  await using stub = await startAnswering();
  const client = await fromPublicCard(stub, place(stub.address.split(':')[1] ?? ''));
  await expect(client.getTask('t1')).rejects.toThrow(
    /is not called: its address is not public, and the caller did not name it/,
  );
  expect(stub.calls).toEqual([]);
});

it.each(['unix:/run/docker.sock', 'dns://127.0.0.1/agent.example:443', 'http://agent.example/path'])(
  'a card cannot name %s',
  async (url) => {
    await using stub = await startAnswering();
    await expect(fromPublicCard(stub, url)).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  },
);

it('a trusted host is called on every port, with credentials', async () => {
  await using stub = await startAnswering();
  for (const trusted of ['http://127.0.0.1:1', 'localhost:50051']) {
    const client = await fromPublicCard(stub, stub.address, {
      trustedOrigins: [trusted],
      credentials: bearerToken(TOKEN),
    });
    expect(await client.getTask('t1')).toEqual(TASK);
    client.close();
  }
  await using page = await StubAgent.start(({ url }) => (url === CARD ? { body: stub.card() } : { status: 404 }));
  const client = await connect(page.url, { bindings: [grpcTransport()], credentials: bearerToken(TOKEN) });
  expect(await client.getTask('t1')).toEqual(TASK);
  client.close();
  expect(stub.calls.map(({ metadata }) => metadata.get('authorization'))).toEqual(Array(3).fill([`Bearer ${TOKEN}`]));
});

it('another host gets no credentials, and without TLS no call', async () => {
  await using stub = await startAnswering();
  const elsewhere = stub.address.replace('127.0.0.1', '0.0.0.0');
  const urls = [elsewhere, `http://${elsewhere}`];
  for (const url of urls) {
    const card = stub.card({}, url);
    await using page = await StubAgent.start((call) => (call.url === CARD ? { body: card } : { status: 404 }));
    const options = { credentials: bearerToken(TOKEN), headers: { 'x-api-key': TOKEN, 'x-plain': '1' } };
    const open = await connect(page.url, { ...options, bindings: [grpcTransport({ plaintext: true })] });
    expect(await open.getTask('t1')).toEqual(TASK);
    open.close();
    const strict = await connect(page.url, { ...options, bindings: [grpcTransport()] });
    await expect(strict.getTask('t1')).rejects.toMatchObject({ name: 'ConnectionError', sent: false });
    strict.close();
  }
  expect(stub.calls.map(({ metadata }) => metadata.getMap())).toEqual(
    urls.map(() => expect.not.objectContaining({ authorization: expect.anything(), 'x-api-key': expect.anything() })),
  );
  expect(stub.calls.map(({ metadata }) => metadata.get('x-plain'))).toEqual([['1'], ['1']]);
});

it('addresses of two hosts are two origins', () => {
  const places = ['one.example:443', 'two.example:443', 'dns:one.example:443', 'localhost:443', '127.0.0.1:443'];
  expect(new Set(places.map(originOf)).size).toBe(places.length);
  expect(['dns:///one.example:443', 'DNS:one.example', 'dns:///[::1]:2'].map(hostOf)).toEqual([
    'one.example',
    'one.example',
    'localhost',
  ]);
  expect([...places, 'http://ONE.example:1/x', '[::1]:2', 'one.example:443@two.example'].map(hostOf)).toEqual([
    'one.example',
    'two.example',
    'one.example',
    'localhost',
    'localhost',
    'one.example',
    'localhost',
    'two.example',
  ]);
});
