import { describe, expect, it } from 'vitest';
import { type Client, connect } from '../../packages/parley/src/exports/client.js';
import type { AgentInterface } from '../../packages/parley/src/model/agent-card.js';
import { StubAgent, type StubAnswer, type StubCall, task } from './stub-agent.js';

const rpcError = (code: number, message = 'Method not found'): StubAnswer => ({
  body: { jsonrpc: '2.0', id: 1, error: { code, message } },
});
const page = (status: number, type = 'text/html', body = '<html><title>Nothing here</title></html>'): StubAnswer => ({
  status,
  headers: { 'content-type': type },
  body,
});
const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const events = (...values: object[]): StubAnswer => ({
  headers: { 'content-type': 'text/event-stream' },
  body: values.map(frame).join(''),
});

/** Paths of a server with interfaces of all versions: `/1.0/JSONRPC` and so on. */
const place = ({ url }: StubCall) => {
  const [, version = '', binding = ''] = url.split('?')[0]?.split('/') ?? [];
  return `${version} ${binding}`;
};

const old = (state: string) => ({ kind: 'task', id: 't1', contextId: 'c1', status: { state } });

/** The answer of an interface that works, in its version. */
function working({ url, json }: StubCall): StubAnswer {
  const isOld = url.startsWith('/0.');
  const isStream = /stream/i.test(`${json?.method ?? url}`);
  const done = isOld ? old('completed') : task();
  if (url.includes('JSONRPC')) {
    const one = {
      jsonrpc: '2.0',
      id: 1,
      result: isOld || !isStream ? (isStream ? done : wrapAnswer(done, json)) : { task: done },
    };
    return isStream ? events(one) : { body: one };
  }
  if (isStream) return events({ task: done });
  return { body: url.includes('message:send') ? { task: done } : done };
}

/** SendMessage of 1.0 answers with an object that holds the task. */
function wrapAnswer(done: object, json: StubCall['json']): object {
  return String(json?.method) === 'SendMessage' ? { task: done } : done;
}

interface World {
  readonly stub: StubAgent;
  readonly client: Client;
  readonly calledPaths: () => string[];
}

/** Connects to an agent with these interfaces. `answers` of broken ones by path; `unknown`: a missing method. */
async function world(
  interfaces: readonly string[],
  answers: Readonly<Record<string, StubAnswer>>,
  unknown?: string,
): Promise<World & AsyncDisposable> {
  const stub = await StubAgent.start((call) => {
    if (unknown !== undefined && String(call.json?.method) === unknown) return rpcError(-32601);
    return answers[place(call)] ?? working(call);
  });
  const supportedInterfaces = interfaces.map((name): AgentInterface => {
    const [protocolVersion = '', protocolBinding = ''] = name.split(' ');
    return { url: `${stub.url}/${protocolVersion}/${protocolBinding}`, protocolBinding, protocolVersion };
  });
  const client = await connect(stub.card({ supportedInterfaces }), { retry: { attempts: 0 }, resume: { attempts: 0 } });
  return {
    stub,
    client,
    calledPaths: () => stub.calls.map((call) => place(call)),
    [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose](),
  };
}

async function readStream(client: Client): Promise<string[]> {
  const states: string[] = [];
  for await (const event of client.sendStreamingMessage('hi')) states.push(Object.keys(event).join());
  return states;
}

const REFUSED_UNRUN: readonly (readonly [string, StubAnswer])[] = [
  ['-32601', rpcError(-32601)],
  ['-32601 with status 404', { status: 404, body: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } } }],
  ['-32601 as the only frame of a stream', events({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } })],
  [
    '-32601 in a body that is declared as a stream',
    {
      headers: { 'content-type': 'text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } }, null, 2),
    },
  ],
  ['404 with a page', page(404)],
  ['404 with a text', page(404, 'text/plain', '404 page not found')],
  ['404 without a body', { status: 404 }],
  ['404 without a body, declared as a stream', page(404, 'text/event-stream', '')],
  ['404 of FastAPI', { status: 404, body: { detail: 'Not Found' } }],
  [
    '404 of Fastify',
    { status: 404, body: { message: 'Route POST:/x not found', error: 'Not Found', statusCode: 404 } },
  ],
  ['404 of Spring', { status: 404, body: { timestamp: 'x', status: 404, error: 'Not Found', path: '/x' } }],
  ['404 of a gateway', { status: 404, body: { message: 'Not Found' } }],
  [
    '404 with problem details',
    {
      status: 404,
      headers: { 'content-type': 'application/problem+json' },
      body: '{"title":"Not Found","status":404}',
    },
  ],
  ['405 with a page', page(405)],
  ['405 of FastAPI', { status: 405, body: { detail: 'Method Not Allowed' } }],
  ['-32009', rpcError(-32009, 'no such version')],
];

const CHAINS: readonly (readonly [first: string, next: string])[] = [
  ['1.0 JSONRPC', '0.3 JSONRPC'],
  ['1.0 HTTP+JSON', '0.3 HTTP+JSON'],
  ['1.0 JSONRPC', '1.0 HTTP+JSON'],
  ['0.3 JSONRPC', '0.2 JSONRPC'],
  ['0.3 HTTP+JSON', '0.3 JSONRPC'],
];

describe.each(CHAINS)('an interface %s that is not there, before %s', (first, next) => {
  it.each(REFUSED_UNRUN)('is left at its first call, once: %s', async (_, answer) => {
    await using it = await world([first, next], { [first]: answer });
    expect(await it.client.sendMessage('hi')).toMatchObject({ task: { id: 't1' } });
    expect(await it.client.getTask('t1')).toMatchObject({ id: 't1' });
    expect(it.calledPaths()).toEqual([first, next, next]);
  });

  it.each(REFUSED_UNRUN)('is left by a stream too: %s', async (_, answer) => {
    await using it = await world([first, next], { [first]: answer });
    expect(await readStream(it.client)).toEqual(['task']);
    expect(await it.client.getTask('t1')).toMatchObject({ id: 't1' });
    expect(it.calledPaths()).toEqual([first, next, next]);
  });
});

describe('an interface is not left', () => {
  const both = ['1.0 JSONRPC', '0.3 JSONRPC'];

  it('for a method that it lacks, after it has answered', async () => {
    await using it = await world(both, {}, 'ListTasks');
    await it.client.sendMessage('hi');
    await expect(it.client.listTasks()).rejects.toMatchObject({
      code: 'METHOD_NOT_FOUND',
      message: 'Method not found',
    });
    expect(it.calledPaths()).toEqual(['1.0 JSONRPC', '1.0 JSONRPC']);
    expect(it.client.agentInterface.protocolVersion).toBe('1.0');
  });

  it('for good, if its only fault is a method that the next version lacks too', async () => {
    await using it = await world(both, {}, 'ListTasks');
    await expect(it.client.listTasks()).rejects.toMatchObject({
      code: 'METHOD_NOT_FOUND',
      message: 'Method not found',
    });
    expect(it.client.agentInterface.protocolVersion).toBe('1.0');
    expect(await it.client.getTask('t1')).toMatchObject({ id: 't1' });
    expect(it.calledPaths()).toEqual(['1.0 JSONRPC', '1.0 JSONRPC']);
  });

  it.each<readonly [string, string, StubAnswer, string]>([
    [
      '404 with an error of A2A',
      'JSONRPC',
      { status: 404, body: { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'x' } } },
      'TASK_NOT_FOUND',
    ],
    [
      '404 with an error of A2A',
      'HTTP+JSON',
      {
        status: 404,
        body: {
          error: {
            code: 404,
            status: 'NOT_FOUND',
            message: 'x',
            details: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }],
          },
        },
      },
      'TASK_NOT_FOUND',
    ],
    [
      '404 with the status of gRPC alone',
      'HTTP+JSON',
      { status: 404, body: { error: { code: 404, status: 'NOT_FOUND', message: 'x' } } },
      'TASK_NOT_FOUND',
    ],
    ['404 with the message of a server of 0.3', 'HTTP+JSON', { status: 404, body: { message: 'x' } }, 'TASK_NOT_FOUND'],
    [
      '404 with problem details of A2A',
      'HTTP+JSON',
      { status: 404, body: { type: 'https://a2a-protocol.org/errors/task-not-found', title: 'x' } },
      'TASK_NOT_FOUND',
    ],
    ['wrong params', 'JSONRPC', rpcError(-32602, 'x'), 'INVALID_PARAMS'],
    ['an internal error', 'JSONRPC', rpcError(-32603, 'x'), 'INTERNAL_ERROR'],
    ['a failed server', 'HTTP+JSON', { status: 500, body: { message: 'x' } }, 'INTERNAL_ERROR'],
    ['400', 'HTTP+JSON', { status: 400, body: { message: 'x' } }, 'INVALID_PARAMS'],
  ])('for %s over %s', async (_, binding, answer, code) => {
    await using it = await world([`1.0 ${binding}`, `0.3 ${binding}`], { [`1.0 ${binding}`]: answer });
    await expect(it.client.getTask('t1')).rejects.toMatchObject({ code, message: 'x' });
    expect(it.calledPaths()).toEqual([`1.0 ${binding}`]);
  });

  it.each<readonly [string, StubAnswer]>([
    [
      'half of an answer',
      (response) => {
        response.writeHead(200, { 'content-length': '9' });
        response.write('{');
        setImmediate(() => response.destroy());
      },
    ],
    ['a closed connection', (_, socket) => void socket.destroy()],
    ['a page', page(200)],
    ['a failed gateway', page(502)],
  ])('if the message may have run there: %s', async (_, answer) => {
    await using it = await world(both, { '1.0 JSONRPC': answer });
    await expect(it.client.sendMessage('hi')).rejects.toThrow();
    await expect(readStream(it.client)).rejects.toThrow();
    expect(it.calledPaths()).toEqual(['1.0 JSONRPC', '1.0 JSONRPC']);
  });
});

describe('if no interface is there', () => {
  const all = ['1.0 JSONRPC', '1.0 HTTP+JSON', '0.3 JSONRPC', '0.2 JSONRPC'];

  it('each one is tried once per call, and the caller gets the error of the first', async () => {
    await using it = await world(all, {
      '1.0 JSONRPC': rpcError(-32601, 'the first'),
      '1.0 HTTP+JSON': page(404),
      '0.3 JSONRPC': rpcError(-32601, 'the third'),
      '0.2 JSONRPC': page(405),
    });
    await expect(it.client.sendMessage('hi')).rejects.toMatchObject({ code: 'METHOD_NOT_FOUND', message: 'the first' });
    expect(it.calledPaths()).toEqual(all);
    await expect(readStream(it.client)).rejects.toMatchObject({ message: 'the first' });
    expect(it.calledPaths()).toEqual([...all, ...all]);
    expect(it.client.agentInterface.protocolVersion).toBe('1.0');
  });

  it('but the error of one that answered is its own', async () => {
    await using it = await world(all, {
      '1.0 JSONRPC': page(404),
      '1.0 HTTP+JSON': { status: 400, body: { message: 'x' } },
    });
    await expect(it.client.sendMessage('hi')).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: 'x' });
    expect(it.calledPaths()).toEqual(['1.0 JSONRPC', '1.0 HTTP+JSON']);
    await expect(it.client.sendMessage('hi')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(it.calledPaths()).toHaveLength(3);
  });

  it('a pinned one is alone', async () => {
    await using it = await world(['1.0 JSONRPC', '0.3 JSONRPC'], { '1.0 JSONRPC': rpcError(-32601) });
    const client = await connect(it.client.card, { version: '1.0' });
    await expect(client.sendMessage('hi')).rejects.toMatchObject({ code: 'METHOD_NOT_FOUND' });
    expect(it.calledPaths()).toEqual(['1.0 JSONRPC']);
  });
});

it('calls at the same time leave an interface together', async () => {
  await using it = await world(['1.0 JSONRPC', '0.3 JSONRPC'], { '1.0 JSONRPC': page(404) });
  const answers = await Promise.all([1, 2, 3].map(() => it.client.sendMessage('hi')));
  for (const answer of answers) expect(answer).toMatchObject({ task: { id: 't1' } });
  expect(it.calledPaths().filter((name) => name === '1.0 JSONRPC')).toHaveLength(3);
  expect(it.client.agentInterface.protocolVersion).toBe('0.3');
  await it.client.sendMessage('hi');
  expect(it.calledPaths()).toHaveLength(7);
});
