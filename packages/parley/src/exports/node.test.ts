import { afterEach, describe, expect, it } from 'vitest';
import type { AgentCard } from '../model/agent-card.js';
import { type A2AHostOptions, createA2AHost, createA2AServer } from './node.js';
import { MemoryStorage, systemClock } from './server.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const echo = (prompt: string) => `Echo: ${prompt}`;
const message = (text: string, messageId = text) => ({ messageId, role: 'ROLE_USER', parts: [{ text }] });

async function host(options: A2AHostOptions) {
  const host = createA2AHost(options);
  closers.push(() => host.close({ graceMs: 0 }));
  return { host, ...(await host.listen(0)) };
}

async function send(url: string, text: string): Promise<{ result: { task: { id: string } } }> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message(text) } });
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  return (await (await fetch(url, { method: 'POST', headers, body })).json()) as { result: { task: { id: string } } };
}

const cardAt = async (url: string, headers: Record<string, string> = {}) =>
  (await (
    await fetch(`${url}/.well-known/agent-card.json`, { headers: { 'a2a-version': '1.0', ...headers } })
  ).json()) as AgentCard;
const urlsOf = ({ supportedInterfaces }: AgentCard) =>
  supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === '1.0').map(({ url }) => url);

describe('a server of one agent', () => {
  it('is complete after listen', async () => {
    const server = createA2AServer({ agent: echo });
    closers.push(() => server.close());
    expect(server.url).toBe('');
    expect(server.agentCard.supportedInterfaces).toEqual([]);
    const { url } = await server.listen(0);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.url).toBe(url);
    const card = await cardAt(url);
    expect(card).toEqual(server.agentCard);
    expect(urlsOf(card)).toEqual([`${url}/a2a/jsonrpc`, `${url}/a2a/rest`]);
    for (const address of [urlsOf(card)[0] ?? '', url]) {
      expect(await send(address, 'hi')).toMatchObject({
        result: { task: { artifacts: [{ parts: [{ text: 'Echo: hi' }] }] } },
      });
    }
  });

  it('answers without a socket as well', async () => {
    const server = createA2AServer({ agent: echo, url: 'https://example.com', path: '/echo' });
    closers.push(() => server.close());
    const response = await server.fetch(new Request('https://example.com/echo/.well-known/agent-card.json'));
    expect(urlsOf((await response.json()) as AgentCard)).toEqual([
      'https://example.com/echo',
      'https://example.com/echo',
    ]);
  });

  it('stays on this machine unless told otherwise', async () => {
    const careful = createA2AServer({ agent: echo });
    await expect(careful.listen(0, '0.0.0.0')).rejects.toThrow(
      /on 0\.0\.0\.0 anybody could call the agent at \/ without authentication/,
    );
    const open = createA2AServer({ agent: echo, allowAnonymous: true });
    closers.push(() => open.close());
    const { url } = await open.listen(0, '0.0.0.0');
    const { port } = new URL(url);
    expect(urlsOf(await cardAt(`http://127.0.0.1:${port}`))[0]).toBe(`http://127.0.0.1:${port}/a2a/jsonrpc`);
    expect(urlsOf(await cardAt(`http://127.0.0.2:${port}`))[0]).toBe(`http://127.0.0.2:${port}/a2a/jsonrpc`);
  });

  it('tells the port that is taken', async () => {
    const first = createA2AServer({ agent: echo });
    closers.push(() => first.close());
    const { port } = new URL((await first.listen(0)).url);
    await expect(createA2AServer({ agent: echo }).listen(Number(port))).rejects.toThrow(/EADDRINUSE/);
  });

  it('closes more than once, and before it listens', async () => {
    const server = createA2AServer({ agent: echo });
    await server.close();
    await server.close();
  });

  it('that is closed while it starts listens no more', async () => {
    for (const ticks of [0, 1, 5, 20]) {
      const storage = new MemoryStorage({ clock: systemClock });
      const server = createA2AServer({ agent: echo, storage });
      const listening = server.listen(0).then(
        ({ url }) => url,
        (error: Error) => error,
      );
      for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      await server.close();
      const outcome = await listening;
      if (typeof outcome === 'string') await expect(fetch(outcome)).rejects.toThrow();
      else expect(outcome.message).toContain('closed');
    }
  });

  it('that is closed does not listen again', async () => {
    const server = createA2AServer({ agent: echo });
    await server.listen(0);
    await server.close();
    await expect(server.listen(0)).rejects.toThrow('closed');
  });

  it('answers although its logger throws at every line', async () => {
    const refuse = () => {
      throw new Error('The logger is broken');
    };
    const logger = { debug: refuse, info: refuse, warn: refuse, error: refuse };
    const agent = () => {
      throw new Error('planted');
    };
    const { url } = await host({ agents: { '/': { agent } }, logger });
    expect(await send(url, 'x')).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_FAILED' } } } });
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });
});

describe('a server of several agents', () => {
  const agents = {
    '/spec': { name: 'Spec', agent: (prompt: string) => `spec ${prompt}` },
    '/spec03': { name: 'Spec03', agent: (prompt: string) => `spec03 ${prompt}` },
    '/': { name: 'Root', agent: (prompt: string) => `root ${prompt}` },
  };

  it('gives each its path, its card and its tasks', async () => {
    const { host: server, url } = await host({ agents });
    const tasks: Record<string, string> = {};
    for (const [path, name, prefix] of [
      ['/spec', 'Spec', 'spec'],
      ['/spec03', 'Spec03', 'spec03'],
      ['', 'Root', 'root'],
    ] as const) {
      const card = await cardAt(`${url}${path}`);
      expect(card.name).toBe(name);
      expect(server.agentCards[path === '' ? '/' : path]).toEqual(card);
      const answer = await send(urlsOf(card)[0] ?? '', 'x');
      expect(answer).toMatchObject({ result: { task: { artifacts: [{ parts: [{ text: `${prefix} x` }] }] } } });
      tasks[name] = answer.result.task.id;
    }
    const read = (path: string, task = '') =>
      fetch(`${url}${path}/tasks/${task}`, { headers: { 'a2a-version': '1.0' } });
    expect((await read('/spec', tasks.Spec)).status).toBe(200);
    expect((await read('/spec03', tasks.Spec)).status).toBe(404);
    expect((await read('/a2a/rest', tasks.Root)).status).toBe(200);
    expect((await read('/a2a/rest', tasks.Spec)).status).toBe(404);
  });

  it('lists them for people', async () => {
    const { url } = await host({ agents });
    const response = await fetch(url);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({
      agents: [
        { name: 'Spec', agentCard: `${url}/spec/.well-known/agent-card.json` },
        { name: 'Spec03' },
        { name: 'Root', agentCard: `${url}/.well-known/agent-card.json` },
      ],
    });
  });

  it('serves one agent under two paths when it is given twice', async () => {
    const twice = { agent: echo };
    const { url } = await host({ agents: { '/': twice, '/tck': twice } });
    const { result } = await send(`${url}/tck`, 'hi');
    const read = await fetch(`${url}/a2a/rest/tasks/${result.task.id}`, { headers: { 'a2a-version': '1.0' } });
    expect(await read.json()).toMatchObject({ id: result.task.id });
    expect(urlsOf(await cardAt(`${url}/tck`))[0]).toBe(`${url}/tck`);
  });

  it('finds tasks again under their path after a restart', async () => {
    const storage = new MemoryStorage({ clock: systemClock });
    const first = await host({ agents: { '/echo': { agent: echo } }, storage });
    const { result } = await send(`${first.url}/echo`, 'hi');
    await first.host.close();
    const { url } = await host({ agents: { '/echo': { agent: echo }, '/other': { agent: echo } }, storage });
    const read = (path: string) =>
      fetch(`${url}${path}/tasks/${result.task.id}`, { headers: { 'a2a-version': '1.0' } });
    expect((await read('/echo')).status).toBe(200);
    expect((await read('/other')).status).toBe(404);
  });
});

describe('addresses in cards', () => {
  const agents = { '/echo': { agent: echo } };
  const forged = { host: 'evil.example', 'x-forwarded-host': 'agents.example.com', 'x-forwarded-proto': 'https' };

  it('follow a configured url alone', async () => {
    const { url, host: server } = await host({ agents, url: 'https://public.example/base/' });
    expect(server.url).toBe('https://public.example/base');
    expect(url).toBe(server.url);
  });

  it('follow forwarded headers only from a trusted proxy', async () => {
    const plain = await host({ agents });
    expect(urlsOf(await cardAt(`${plain.url}/echo`, forged))[0]).toBe(`${plain.url}/echo`);
    const proxied = await host({ agents, trustProxy: ['loopback'] });
    expect(urlsOf(await cardAt(`${proxied.url}/echo`, forged))[0]).toBe('https://agents.example.com/echo');
    expect(urlsOf(await cardAt(`${proxied.url}/echo`, { host: 'evil.example' }))[0]).toBe(`${proxied.url}/echo`);
    expect(await (await fetch(proxied.url, { headers: forged })).text()).toContain('https://agents.example.com/echo');
  });
});

describe('options', () => {
  it.each([
    ['an unknown option', { agents: { '/': { agent: echo } }, prot: 1 }, /createA2AHost: unknown option "prot"/],
    [
      'an unknown option of an agent',
      { agents: { '/a': { agent: echo, nmae: 'x' } } },
      /the agent at \/a: unknown option "nmae" \(did you mean "name"\?\)/,
    ],
    ['an odd path', { agents: { 'a b': { agent: echo } } }, /the path "a b" must be/],
    ['no agents', { agents: {} }, /agents: needs at least one agent/],
    ['no agents at all', {}, /agents: must be an object of agents by path/],
    [
      'one id for two agents',
      { agents: { '/a': { agent: echo, id: '/b' }, '/b': { agent: echo } } },
      /the agent at \/b has the id "\/b" of another one/,
    ],
    ['an agent that is none', { agents: { '/a': {} } }, /the agent at \/a needs an agent: a function, such as/],
    ['an odd proxy', { agents: { '/a': { agent: echo } }, trustProxy: ['proxy'] }, /"proxy" must be an IP address/],
    ['odd times', { agents: { '/a': { agent: echo } }, http: { stallMs: 0 } }, /http\.stallMs/],
  ])('with %s are refused by name', (_, options, problem) => {
    expect(() => createA2AHost(options as unknown as A2AHostOptions)).toThrow(problem);
  });
});
