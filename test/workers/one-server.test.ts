import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CountingServer } from './counting-server.js';

describe('two workers answer as one server', () => {
  let server: CountingServer;
  beforeAll(async () => {
    server = await CountingServer.start('memory:', '--rate-limit', '100/600s');
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const figures = async () => {
    const response = await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } });
    return ((await response.json()) as { server: { requests: number } }).server.requests;
  };
  const prometheus = async () => {
    const headers = { connection: 'close', accept: 'text/plain' };
    return (await fetch(`${server.url}/metrics`, { headers })).text();
  };

  it('/metrics has the figures of both, whichever answers', async () => {
    const before = await figures();
    for (let call = 0; call < 10; call++) await server.countAnswering();
    // One worker has answered half of them. A request counts when its answer is out.
    await vi.waitFor(async () => expect(await figures()).toBeGreaterThanOrEqual(before + 10), 15_000);
    const sent = /^a2a_server_requests_total\{.*operation="sendMessage".*\} (\d+)$/m;
    await vi.waitFor(async () => {
      const [one, other] = [sent.exec(await prometheus())?.[1], sent.exec(await prometheus())?.[1]];
      expect(Number(one)).toBeGreaterThanOrEqual(12);
      expect(other).toBe(one);
    }, 15_000);
  });

  it('a message that comes again on another connection gets the task of the first one', async () => {
    const ids = [
      await server.sendRepeated(),
      await server.sendRepeated(),
      await server.sendRepeated(),
      await server.sendRepeated(),
    ];
    expect(new Set(ids).size).toBe(1);
  });

  it('a rate holds for both together', async () => {
    const statuses: number[] = [];
    while (statuses.length < 200 && statuses.at(-1) !== 429) {
      const { status } = await fetch(`${server.url}/tasks`, { headers: { connection: 'close', 'a2a-version': '1.0' } });
      statuses.push(status);
    }
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.length).toBeLessThanOrEqual(101);
    // The other worker refuses as well.
    for (let call = 0; call < 4; call++) {
      const { status } = await fetch(`${server.url}/tasks`, { headers: { connection: 'close', 'a2a-version': '1.0' } });
      expect(status).toBe(429);
    }
  });

  it('is ready', async () => {
    const response = await fetch(`${server.url}/readyz`);
    expect(await response.json()).toMatchObject({ status: 'ready', durability: 'none' });
  });
});
