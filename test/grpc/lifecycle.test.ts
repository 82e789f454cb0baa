import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createA2AHost, createA2AServer } from 'parley-a2a/node';
import { describe, expect, it } from 'vitest';
import { type GrpcBindingOptions, grpcBinding } from '../../packages/grpc/src/index.js';
import { freePort } from '../support/servers/free-port.js';
import { afterTest, failureOf, GrpcTester, message, serve } from './grpc-world.js';

const agent = (prompt: string) => prompt;

async function takenPort(): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  afterTest(() => taken.close());
  return (taken.address() as AddressInfo).port;
}

describe('the options', () => {
  it.each([
    [{ prot: 1 }, /unknown option "prot" \(did you mean "port"\?\)/],
    [{ port: 70_000 }, /port: must be a port up to 65535, or "shared"/],
    [{ address: 'https://agents.example' }, /address: must be a host and a port/],
    [{ maxStreams: 0 }, /maxStreams: must be greater than 0/],
    [{ listed: 'private' }, /listed: must be one of public, extended, never/],
  ])('%j are refused', (options, problem) => {
    expect(() => grpcBinding(options as GrpcBindingOptions)).toThrow(problem);
  });

  it('must name an agent that is served', () => {
    const bindings = [grpcBinding({ agent: '/nowhere' })];
    expect(() => createA2AServer({ agent, bindings })).toThrow('agent: no agent is served at "/nowhere"');
  });

  it('cannot show an agent without authentication beyond loopback', async () => {
    const server = createA2AServer({ agent, bindings: [grpcBinding({ port: 0, host: '0.0.0.0' })] });
    await expect(server.listen(0)).rejects.toThrow(/on 0\.0\.0\.0 anybody could call/);
    await server.close();
  });

  it('take the port after that of the server, which may come as a text', async () => {
    const port = await freePort();
    const server = createA2AServer({ agent, bindings: [grpcBinding({ orAnotherPort: true })] });
    afterTest(() => server.close({ graceMs: 0 }));
    const { url } = await server.listen(String(port) as unknown as number);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    const address = server.interfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC');
    const { value } = await new GrpcTester(address?.url ?? '').call('SendMessage', { message: message('hi') });
    expect(value).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it.each(['', 'http', '80.5', '70000'])('of a server with the port "%s" leave no port open', async (port) => {
    const server = createA2AServer({ agent, bindings: [grpcBinding({ orAnotherPort: true })] });
    afterTest(() => server.close({ graceMs: 0 }));
    await expect(server.listen(port as unknown as number)).rejects.toThrow(/port/);
    expect(server.interfaces.map(({ protocolBinding }) => protocolBinding)).not.toContain('GRPC');
  });

  it('say the address of a proxy in the card', async () => {
    const { server } = await serve({}, { address: 'agents.example:443', listed: 'public' });
    const [current, old] = server.agentCard.supportedInterfaces.filter((one) => one.protocolBinding === 'GRPC');
    expect([current?.url, old?.url]).toEqual(['agents.example:443', 'agents.example:443']);
  });
});

describe('a port in use', () => {
  it('is an error that names it, and leaves nothing open', async () => {
    const port = await takenPort();
    const server = createA2AServer({ agent, bindings: [grpcBinding({ port })] });
    await expect(server.listen(0)).rejects.toThrow(`port: ${port} is in use`);
    await server.close();
  });

  it('is replaced by a free one if that is wanted', async () => {
    const port = await takenPort();
    const world = await serve({}, { port, orAnotherPort: true });
    expect(world.port).not.toBe(port);
    await new GrpcTester(world.address).call('SendMessage', { message: message('hi') });
  });

  it('of HTTP closes that of gRPC', async () => {
    const port = await takenPort();
    const bindings = [grpcBinding({ port: 0 })];
    const server = createA2AServer({ agent, bindings });
    await expect(server.listen(port)).rejects.toThrow('EADDRINUSE');
    expect(server.interfaces).toEqual([]);
    await server.listen(0);
    expect(server.interfaces.map((one) => one.protocolBinding)).toContain('GRPC');
    await server.close();
  });
});

describe('an agent under two paths', () => {
  it('names the port in both cards, in the versions of each', async () => {
    const host = createA2AHost({
      agents: {
        '/': { agent, versions: ['1.0', '0.3'] },
        '/same': { sameAs: '/', versions: ['1.0'] },
        '/other': { agent },
      },
      bindings: [grpcBinding({ port: 0, listed: 'public' })],
    });
    afterTest(() => host.close({ graceMs: 0 }));
    await host.listen(0);
    const versions = (path: string) =>
      host.agentCards[path]?.supportedInterfaces
        .filter((one) => one.protocolBinding === 'GRPC')
        .map((one) => one.protocolVersion);
    expect([versions('/'), versions('/same'), versions('/other')]).toEqual([['1.0', '0.3'], ['1.0'], []]);
  });
});

describe('the end of a server', () => {
  it('lets a call finish, and ends a stream of events with UNAVAILABLE', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { address, server } = await serve({
      agent: {
        async execute({ text }, events) {
          await events.working();
          if (text === 'call') await released;
          else await new Promise(() => {});
        },
      },
    });
    const tester = new GrpcTester(address);
    const stream = tester.stream('SendStreamingMessage', { message: message('stream') });
    const ended = new Promise((resolve) => {
      stream.on('error', (error) => resolve(failureOf(error as never).code));
      stream.on('end', () => resolve('end'));
    });
    await new Promise((resolve) => stream.once('data', resolve));
    stream.on('data', () => {});
    const closing = server.close({ graceMs: 300 });
    release();
    await closing;
    expect(['UNAVAILABLE', 'end']).toContain(await ended);
  });

  it('frees the port for the next server', async () => {
    const first = await serve();
    await new GrpcTester(first.address).call('SendMessage', { message: message('hi') });
    await first.server.close({ graceMs: 0 });
    const second = await serve({}, { port: first.port });
    expect(second.port).toBe(first.port);
    await new GrpcTester(second.address).call('SendMessage', { message: message('hi') });
  });

  it('comes at once if no call is open, whatever connections there are', async () => {
    const { address, server } = await serve();
    await new GrpcTester(address).call('SendMessage', { message: message('hi') });
    const since = performance.now();
    await server.close({ graceMs: 20_000 });
    expect(performance.now() - since).toBeLessThan(10_000);
  });
});
