import { afterEach, describe, expect, it } from 'vitest';
import { AgentServer } from '../adapters/node/agent-server.js';
import { healthExtension } from '../app/observability/health-endpoints.js';
import { BodyBudget } from '../bindings/http/body-budget.js';
import type { Clock } from '../runtime/clock.js';
import { MemoryStorage } from '../store/memory/memory-storage.js';
import { silentLogger } from '../telemetry/logger.js';
import { createA2AServer } from './node.js';
import { systemClock, systemIds } from './runtime.js';
import { createAgentHandler } from './server.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const get = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
};

async function startServer(options: Partial<Parameters<typeof createA2AServer>[0]> = {}) {
  const server = createA2AServer({ agent: (prompt: string) => prompt, ...options } as Parameters<
    typeof createA2AServer
  >[0]);
  closers.push(() => server.close({ graceMs: 0 }));
  return { server, ...(await server.listen(0)) };
}

describe('a server with a socket', () => {
  it('answers probes on its origin, whatever agents it has', async () => {
    const { url } = await startServer();
    expect(await get(`${url}/healthz`)).toMatchObject({ status: 200, body: { status: 'alive' } });
    expect(await get(`${url}/readyz`)).toMatchObject({
      status: 200,
      body: { status: 'ready', durability: 'none', warnings: ['Tasks are kept in memory, and survive nothing'] },
    });
  });

  it('leaves the paths alone when told so', async () => {
    const { url } = await startServer({ health: false });
    expect((await get(`${url}/healthz`)).status).toBe(404);
  });

  it('is not ready first and stops taking requests later', async () => {
    const drainMs = 86_400_000;
    let endDrain = () => {};
    const clock: Clock = {
      ...systemClock,
      after: (ms, task) => {
        if (ms !== drainMs) return systemClock.after(ms, task);
        endDrain = task;
        return () => {};
      },
    };
    const server = new AgentServer({
      agents: { '/': { agent: (prompt: string) => prompt } },
      storage: new MemoryStorage({ clock }),
      clock,
      ids: systemIds,
      logger: silentLogger,
      bodies: new BodyBudget({ clock }),
      heartbeatMs: 15_000,
      cardMaxAgeSeconds: 60,
      extensions: [healthExtension],
      metrics: {},
      logRequests: false,
      allowAnonymous: false,
      containsUncaughtErrors: false,
      times: {},
    });
    const { url } = await server.listen({ host: '127.0.0.1', port: 0 });
    const closing = server.close({ graceMs: 5_000, drainMs });
    expect(await get(`${url}/readyz`)).toMatchObject({ status: 503, body: { status: 'draining' } });
    expect((await get(`${url}/healthz`)).status).toBe(200);
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'still' }] } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
    const answer = await (await fetch(url, { method: 'POST', headers, body })).json();
    expect(answer).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
    endDrain();
    await closing;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('lets pages of other origins in, and forbids guessing, only when told so', async () => {
    const plain = await startServer();
    const open = await startServer({ cors: ['https://page.example'], nosniff: true });
    const origin = 'https://page.example';
    for (const path of ['/', '/.well-known/agent-card.json', '/nothing/here', '/a2a/rest/tasks/none']) {
      const closed = (await get(`${plain.url}${path}`, { origin })).headers;
      expect([closed.get('access-control-allow-origin'), closed.get('x-content-type-options')]).toEqual([null, null]);
      const { headers } = await get(`${open.url}${path}`, { origin });
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('vary')).toContain('Origin');
    }
    const preflight = { origin, 'access-control-request-method': 'DELETE' };
    const asked = await fetch(`${open.url}/a2a/rest/tasks`, { method: 'OPTIONS', headers: preflight });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
  });
});

describe('a mounted handler', () => {
  it('answers probes only when asked to', async () => {
    const url = 'https://example.com/agent';
    for (const health of [undefined, true] as const) {
      const handler = createAgentHandler({ agent: (prompt: string) => prompt, url, ...(health && { health }) });
      closers.push(() => handler.close());
      const { status } = await handler.fetch(new Request('https://example.com/healthz'));
      expect(status).toBe(health === true ? 200 : 404);
      if (health === undefined) continue;
      expect((await handler.fetch(new Request('https://example.com/readyz'))).status).toBe(200);
      await handler.close();
      expect((await handler.fetch(new Request('https://example.com/readyz'))).status).toBe(503);
    }
  });
});
