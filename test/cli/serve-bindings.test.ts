import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { parley, ServedAgent } from './parley.js';

interface Card {
  readonly supportedInterfaces: readonly { readonly url: string; readonly protocolBinding: string }[];
}

const bindingsIn = (card: Card) => new Set(card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding));
const cardAt = async (url: string) => (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as Card;

it.each([
  ['on a port of its own', '0'],
  ['on the port of HTTP', 'shared'],
])('--grpc serves gRPC %s, --capnweb serves sessions, and --listed public lists both', async (_where, port) => {
  const flags = ['--grpc', port, '--capnweb', '--listed', 'public'];
  await using agent = await ServedAgent.start(['serve', '--echo', ...flags]);
  const card = await cardAt(agent.url);
  const grpc = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC');
  expect(grpc?.url.endsWith(`:${new URL(agent.url).port}`)).toBe(port === 'shared');
  for (const transport of ['grpc', 'capnweb', 'jsonrpc']) {
    const { code, stdout } = await parley(['send', agent.url, `over ${transport}`, '--transport', transport]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Echo: over ${transport}`)]);
  }
  const { code } = await agent.running.stop();
  expect(code).toBe(0);
});

it('without --listed only the tool names the address of gRPC, not the card', async () => {
  await using agent = await ServedAgent.start(['serve', '--echo', '--grpc', '0', '--capnweb']);
  const card = await cardAt(agent.url);
  expect(bindingsIn(card)).not.toContain('GRPC');
  for (const { url } of card.supportedInterfaces) expect(new URL(url).origin).toBe(agent.url);
  const address = await agent.running.waitForStdout(/^Unlisted: GRPC 1\.0 (\S+)$/m);
  const { code, stdout } = await parley(['send', '-e', address, '--transport', 'grpc', 'hi']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Echo: hi')]);
  const session = await parley(['send', agent.url, 'hi', '--transport', 'capnweb']);
  expect([session.code, session.stdout]).toEqual([0, expect.stringContaining('Echo: hi')]);
});

it('--listed never lists neither, and --listed needs a binding and a known value', async () => {
  await using agent = await ServedAgent.start(['serve', '--echo', '--capnweb', '--listed', 'never']);
  expect(bindingsIn(await cardAt(agent.url))).toEqual(new Set(['JSONRPC', 'HTTP+JSON']));
  const alone = await parley(['serve', '--echo', '--port', '0', '--listed', 'public']);
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--listed goes with --grpc and --capnweb')]);
  const wrong = await parley(['serve', '--echo', '--port', '0', '--capnweb', '--listed', 'secret']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--listed is public, extended, never')]);
});

it('a proxy does not change the address of sessions, whose WebSockets it does not forward', async () => {
  await using agent = await ServedAgent.start(['serve', '--echo', '--capnweb']);
  await using proxy = await ServedAgent.start(['serve', '--proxy', agent.url]);
  const { supportedInterfaces } = await cardAt(proxy.url);
  const foreign = supportedInterfaces.filter(({ url }) => new URL(url).origin !== proxy.url);
  expect(foreign.map(({ url }) => url)).toEqual([`${agent.url}/a2a/capnweb`]);
  const { code, stdout } = await parley(['send', proxy.url, 'hi', '--transport', 'capnweb']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Echo: hi')]);
});

it('without them the card lists only bindings of HTTP', async () => {
  await using agent = await ServedAgent.start(['serve', '--echo']);
  expect(bindingsIn(await cardAt(agent.url))).toEqual(new Set(['JSONRPC', 'HTTP+JSON']));
});

it('an invalid port and a port in use are errors that name it', async () => {
  const wrong = await parley(['serve', '--echo', '--port', '0', '--grpc', 'many']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--grpc is 0 to 65535')]);
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const taken = await parley(['serve', '--echo', '--port', '0', '--grpc', String(port)]);
  other.close();
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining(`grpcBinding: port: ${port} is in use`)]);
});
