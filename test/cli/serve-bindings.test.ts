import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { parley, ServedAgent } from './parley.js';

interface Card {
  readonly supportedInterfaces: readonly { readonly url: string; readonly protocolBinding: string }[];
}

it.each([
  ['on a port of its own', '0'],
  ['on the port of HTTP', 'shared'],
])('--grpc serves gRPC %s, and --capnweb a session of objects', async (_where, port) => {
  await using agent = await ServedAgent.start(['serve', '--echo', '--grpc', port, '--capnweb']);
  const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as Card;
  const grpc = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC');
  expect(grpc?.url.endsWith(`:${new URL(agent.url).port}`)).toBe(port === 'shared');
  for (const transport of ['grpc', 'capnweb', 'jsonrpc']) {
    const { code, stdout } = await parley(['send', agent.url, `over ${transport}`, '--transport', transport]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Echo: over ${transport}`)]);
  }
  const { code } = await agent.running.stop();
  expect(code).toBe(0);
});

it('without them the card names no binding beside HTTP', async () => {
  await using agent = await ServedAgent.start(['serve', '--echo']);
  const card = (await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json()) as Card;
  const names = new Set(card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding));
  expect(names).toEqual(new Set(['JSONRPC', 'HTTP+JSON']));
});

it('a port that is no port, or is taken, is named', async () => {
  const wrong = await parley(['serve', '--echo', '--port', '0', '--grpc', 'many']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--grpc is 0 to 65535')]);
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const taken = await parley(['serve', '--echo', '--port', '0', '--grpc', String(port)]);
  other.close();
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining(`grpcBinding: port: ${port} is in use`)]);
});
