import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, textOf } from 'parley-a2a';
import { AGENT_CALLS_EXTENSION } from 'parley-a2a/agent-calls';
import { bearerToken } from 'parley-a2a/credentials';
import { describe, expect, it } from 'vitest';
import { Agents, executor, taskOf } from './world.js';

/** An agent that calls the next agent, and answers with the fault of a failed call. */
const callingOn = (url: () => string, notes: string[] = []) =>
  executor(async (context, events) => {
    try {
      const answer = await context.callAgent(url(), context.text);
      await events.artifact(textOf(answer.task !== undefined ? answer.task : answer.message));
    } catch (error) {
      const { fault, message } = error as { fault?: string; message: string };
      notes.push(message);
      await events.artifact(`fault: ${fault ?? message}`);
    }
    await events.complete();
  });

describe('the loop guard', () => {
  it('ends a ring of two at the second call', async () => {
    await using agents = new Agents();
    const urls: string[] = [];
    let runs = 0;
    const countRuns = (url: () => string) => {
      const { execute } = callingOn(url);
      return executor((context, events) => {
        runs += 1;
        return execute(context, events);
      });
    };
    const one = await agents.listen(countRuns(() => urls[1] ?? ''));
    const two = await agents.listen(countRuns(() => urls[0] ?? ''));
    urls.push(one.url, two.url);
    expect(textOf(taskOf(await one.client.ask('go')))).toBe('fault: loop');
    expect(runs).toBe(2);
  });

  it('ends a ring within the process', async () => {
    await using agents = new Agents();
    const servers: object[] = [];
    const local = (at: number) =>
      executor(async (context, events) => {
        const answer = await context.callAgent(servers[at] as never, 'on').then(
          (found) => textOf(taskOf(found)),
          (error: { fault: string }) => `fault: ${error.fault}`,
        );
        await events.artifact(answer);
        await events.complete();
      });
    const one = await agents.listen(local(1));
    const two = await agents.listen(local(0));
    servers.push(one.server, two.server);
    expect(textOf(taskOf(await one.client.ask('go')))).toBe('fault: loop');
  });

  it('ends a long chain by its depth', async () => {
    await using agents = new Agents();
    let next = '';
    for (let place = 0; place < 5; place += 1) {
      const after = next;
      const { url } = await agents.listen(
        callingOn(() => after),
        {},
        { maxDepth: 3 },
      );
      next = url;
    }
    const client = await connect(next);
    expect(textOf(taskOf(await client.ask('go')))).toBe('fault: depth');
  });

  it.each([
    ['a depth below zero', { depth: -1_000, visited: [] }],
    ['a depth that is no number', { depth: 'none' }],
    ['a list that is none', { depth: 0, visited: 'nobody' }],
    ['too many agents', { depth: 0, visited: Array.from({ length: 65 }, (_, at) => `https://${at}.example.com`) }],
    ['no object', 'trust me'],
  ])('refuses to call on after a chain with %s', async (_name, chain) => {
    await using agents = new Agents();
    const callee = await agents.listen(executor((_context, events) => events.complete()));
    const { client } = await agents.listen(callingOn(() => callee.url));
    const answer = await client.ask('go', { metadata: { [AGENT_CALLS_EXTENSION]: chain } });
    expect(textOf(taskOf(answer))).toBe('fault: loop');
  });

  it('a chain that is made longer only forbids more', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(executor((_context, events) => events.complete('done')));
    const { client } = await agents.listen(callingOn(() => callee.url));
    const askWithChain = async (chain: object) =>
      textOf(taskOf(await client.ask('go', { metadata: { [AGENT_CALLS_EXTENSION]: chain as never } })));
    expect(await askWithChain({ depth: 99, visited: [] })).toBe('fault: depth');
    expect(await askWithChain({ depth: 1, visited: [callee.url] })).toBe('fault: loop');
    expect(await askWithChain({ depth: 1, visited: [] })).toBe('done');
  });

  it('the card declares it', async () => {
    await using agents = new Agents();
    const { client } = await agents.listen(callingOn(() => ''));
    expect(client.card.capabilities.extensions).toContainEqual(
      expect.objectContaining({ uri: AGENT_CALLS_EXTENSION, required: false, params: { maxDepth: 5 } }),
    );
  });
});

describe('addresses', () => {
  it('are public, unless the server allows others', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(executor((_context, events) => events.complete('done')));
    const notes: string[] = [];
    const { client } = await agents.listen(
      callingOn(() => callee.url, notes),
      {},
      { allow: [] },
    );
    expect(textOf(taskOf(await client.ask('go')))).toBe('fault: address');
    expect(notes[0]).toContain('is not called');
  });

  it('of a card are checked too', async () => {
    await using agents = new Agents();
    const callee = await agents.listen(executor((_context, events) => events.complete('done')));
    const { card } = await connect(callee.url);
    let fault: unknown;
    const { client } = await agents.listen(
      executor(async (context, events) => {
        await context.callAgent(card, 'hello').then(undefined, (error: { fault: string }) => {
          fault = error.fault;
        });
        await events.complete();
      }),
      {},
      { allow: [] },
    );
    await client.ask('go');
    expect(fault).toBe('address');
  });
});

describe('the identity of a caller', () => {
  async function authorizationsAt(origin: (own: string) => string) {
    await using agents = new Agents();
    const callee = await agents.listen(executor((_context, events) => events.complete('done')));
    const seen = new Set<string | undefined>();
    const proxy = createServer((request, response) => {
      seen.add(request.headers.authorization);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        const { method = 'GET', url = '/', headers } = request;
        const passed = await fetch(`${callee.url}${url}`, {
          method,
          headers: { 'content-type': headers['content-type'] ?? 'application/json', 'a2a-version': '1.0' },
          ...(method === 'POST' && { body: Buffer.concat(chunks) }),
        });
        const text = (await passed.text()).replaceAll(callee.url, own);
        response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? '' });
        response.end(text);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const own = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { client } = await agents.listen(
      callingOn(() => own),
      {},
      { identity: () => ({ origin: origin(own), credentials: bearerToken('handed-on') }) },
    );
    expect(textOf(taskOf(await client.ask('go')))).toBe('done');
    await new Promise((resolve) => proxy.close(resolve));
    return seen;
  }

  it('goes to the origin that the rule names', async () => {
    expect(await authorizationsAt((own) => own)).toContain('Bearer handed-on');
  });

  it('goes to no other origin', async () => {
    expect(await authorizationsAt(() => 'https://other.example.com')).toEqual(new Set([undefined]));
  });
});
