import { setImmediate as turned } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Authenticator } from '../../packages/parley/src/auth/authenticator.js';
import { userId } from '../../packages/parley/src/auth/user.js';
import { ApiKeys } from '../../packages/parley/src/exports/auth.js';
import { connect } from '../../packages/parley/src/exports/client.js';
import { apiKey } from '../../packages/parley/src/exports/credentials.js';
import { A2AError } from '../../packages/parley/src/exports/everywhere.js';
import { createA2AHost, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { createAgentHandler, inProcess } from '../../packages/parley/src/exports/server.js';
import type { AgentExecutor } from '../../packages/parley/src/server/agent-executor.js';
import type { AuditRecord } from '../../packages/parley/src/telemetry/audit-log.js';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';

const quiet = { logger: silentLogger } as const;
const open: { close(options?: { graceMs?: number }): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close({ graceMs: 100 })));
});

function serverOf(options: Parameters<typeof createA2AServer>[0]) {
  const server = createA2AServer({ ...quiet, ...options });
  open.push(server);
  return server;
}

/** Believes the header `x-user`. */
const authenticator: Authenticator = {
  challenges: ['Test'],
  authenticate: (credentials) => {
    const name = credentials.header('x-user');
    return name === undefined ? { kind: 'anonymous' } : { kind: 'user', user: { id: userId('test', name) } };
  },
};

/** Names its caller. `ask` asks for more, and `wait` waits for an abort. */
const executor: AgentExecutor = {
  async execute({ text, user, signal }, events) {
    await events.working();
    if (text === 'ask') return events.inputRequired('more?');
    if (text === 'wait') {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      return;
    }
    await events.complete(`${text} of ${user?.id ?? 'nobody'}`);
  },
};

async function failureOf(work: Promise<unknown>): Promise<A2AError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof A2AError) return error;
  throw new Error('The call did not fail with an A2AError', { cause: error });
}

const textOfTask = (answer: unknown) =>
  (answer as { task: { status: { message: { parts: { text: string }[] } } } }).task.status.message.parts[0]?.text;

describe('a client in the process of its agent', () => {
  it('polls a task without holding up its agent', async () => {
    const slow: AgentExecutor = {
      async execute(_context, events) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        await events.complete('done');
      },
    };
    const client = await connect(serverOf({ agent: slow }));
    const answer = await client.sendMessage({ message: 'hi', configuration: { returnImmediately: true } });
    const id = answer.task !== undefined ? answer.task.id : '';
    let polls = 0;
    while ((await client.getTask({ id })).status.state !== 'TASK_STATE_COMPLETED') polls += 1;
    expect(polls).toBeGreaterThan(0);
  });

  it('calls a server that never listened, by its card', async () => {
    const client = await connect(serverOf({ agent: executor, name: 'Inner' }));
    expect(client.card.name).toBe('Inner');
    expect(client.agentInterface).toEqual({
      url: 'in-process:/',
      protocolBinding: 'IN_PROCESS',
      protocolVersion: '1.0',
    });
    const answer = await client.sendMessage('hi');
    expect(textOfTask(answer)).toBe('hi of nobody');
    const states: string[] = [];
    for await (const event of client.sendStreamingMessage('hi')) {
      if (event.task !== undefined) states.push(event.task.status.state);
      if (event.statusUpdate !== undefined) states.push(event.statusUpdate.status.state);
    }
    expect(states).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect((await client.listTasks()).totalSize).toBe(2);
  });

  it('names the agent of a host by its path', async () => {
    const host = createA2AHost({ ...quiet, agents: { '/one': { agent: executor }, '/two': { agent: executor } } });
    open.push(host);
    const two = await connect(host, { path: '/two' });
    await two.sendMessage('hi');
    expect((await two.listTasks()).totalSize).toBe(1);
    expect((await (await connect(host, { path: '/one' })).listTasks()).totalSize).toBe(0);
    await expect(connect(host)).rejects.toThrow('path: is needed, because there are several agents');
    await expect(connect(host, { path: '/three' })).rejects.toThrow(
      'no agent is at "/three". The agents are at /one, /two',
    );
  });

  it('calls an agent handler without a url', async () => {
    const handler = createAgentHandler({ agent: executor });
    open.push(handler);
    expect(textOfTask(await (await connect(handler)).sendMessage('hi'))).toBe('hi of nobody');
  });

  it('shares no object with its agent, in either direction', async () => {
    const seen: { metadata: unknown }[] = [];
    const agent: AgentExecutor = {
      async execute({ message }, events) {
        seen.push(message as { metadata: unknown });
        const data = { count: 1 };
        await events.artifact({ data }, { artifactId: 'a' });
        data.count = 2;
        await events.inputRequired();
      },
    };
    const client = await connect(serverOf({ agent }));
    await client.sendMessage('the first call loads the transport');
    const metadata = { key: { deep: 'sent' }, absent: undefined, at: new Date(0), gap: [undefined, Number.NaN] };
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }], metadata } as const;
    const sending = client.sendMessage({ message: message as never });
    metadata.key.deep = 'changed';
    const { task } = (await sending) as unknown as {
      task: { id: string; artifacts: { parts: { data: { count: number } }[] }[] };
    };
    // The values are those of JSON.
    expect(seen[1]?.metadata).toEqual({ key: { deep: 'sent' }, at: '1970-01-01T00:00:00.000Z', gap: [null, null] });
    const part = task.artifacts[0]?.parts[0];
    expect(part?.data).toEqual({ count: 1 });
    if (part !== undefined) part.data.count = 3;
    expect(await client.getTask(task.id)).toMatchObject({ artifacts: [{ parts: [{ data: { count: 1 } }] }] });
    const { tasks } = await client.listTasks({ includeArtifacts: true });
    (tasks as unknown[]).length = 0;
    expect((await client.listTasks()).tasks).toHaveLength(2);
    (client.card as { name: string }).name = 'changed';
    expect((await connect(open[0] as never)).card.name).not.toBe('changed');
  });

  it('gives each reader of a stream events of its own', async () => {
    const client = await connect(serverOf({ agent: executor }));
    const { task } = (await client.sendMessage('ask')) as { task: { id: string } };
    const [one, other] = [client.subscribeToTask(task.id), client.subscribeToTask(task.id)];
    const first = (await one.next()).value as { task: { status: { state: string } } };
    first.task.status.state = 'changed';
    expect((await other.next()).value).toMatchObject({ task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
    await one.return();
    await other.return();
  });

  it('passes the gate of its agent with the credentials of the client', async () => {
    const key = 'pl4nted-s3cret-in-process-key-4711';
    const server = serverOf({ agent: executor, authenticator: new ApiKeys([{ key, subject: 'ada' }]) });
    const refused = await failureOf((await connect(server)).sendMessage('hi'));
    expect(refused.code).toBe('UNAUTHENTICATED');
    const client = await connect(server, { credentials: apiKey(key) });
    expect(textOfTask(await client.sendMessage('hi'))).toMatch(/^hi of apikey\|/);
  });

  it('acts as the user whom code with the server names', async () => {
    const server = serverOf({ agent: executor, authenticator });
    const ann = await connect(inProcess(server, { user: { id: userId('app', 'ann') } }));
    const bob = await connect(inProcess(server, { user: { id: userId('app', 'bob') } }));
    const answer = await ann.sendMessage('ask');
    const { id } = (answer as { task: { id: string } }).task;
    expect((await ann.getTask(id)).id).toBe(id);
    expect((await failureOf(bob.getTask(id))).code).toBe('TASK_NOT_FOUND');
    // A caller cannot name another user on that way, nor name one by the options of a client.
    const again = await connect(inProcess(inProcess(server, { user: { id: 'app|ann' } }), { user: { id: 'app|bob' } }));
    expect((await again.listTasks()).totalSize).toBe(1);
    const forged = connect(server, { user: { id: 'app|ann' } } as never);
    await expect(forged).rejects.toThrow('connect: unknown option "user"');
    const headers = await connect(inProcess(server, { user: { id: 'app|bob' } }), { headers: { 'x-user': 'ann' } });
    expect((await headers.listTasks()).totalSize).toBe(0);
    await expect(connect(inProcess(server, { user: { id: '' } }))).rejects.toThrow('user.id: must be a text');
  });

  it('ends its streams when the credential of the named user ends', async () => {
    const server = serverOf({ agent: executor });
    const user = { id: 'app|ann', expiresAt: Date.now() + 200 };
    const client = await connect(inProcess(server, { user }));
    const stream = client.sendStreamingMessage('wait');
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('is refused with the fields at fault, beyond limits, and without what an agent lacks', async () => {
    const client = await connect(serverOf({ agent: executor, limits: { bodyBytes: 1000, jsonDepth: 10 } }));
    const invalid = await failureOf(client.getTask({ id: '', historyLength: -1 }));
    expect(invalid).toMatchObject({ name: 'InvalidParamsError', code: 'INVALID_PARAMS' });
    expect(invalid.details.violations?.map(({ field }) => field).sort()).toEqual(['historyLength', 'id']);
    expect((await failureOf(client.sendMessage('x'.repeat(2000)))).code).toBe('PAYLOAD_TOO_LARGE');
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data: circle }] };
    expect((await failureOf(client.sendMessage({ message: message as never }))).code).toBe('INVALID_REQUEST');
    expect((await failureOf(client.getExtendedAgentCard())).code).toBe('UNSUPPORTED_OPERATION');
    expect((await failureOf(connect(open[0] as never, { version: '0.3' }))).code).toBe('VERSION_NOT_SUPPORTED');
  });

  it('gives the error of the agent in its class, without the cause', async () => {
    const cause = new Error('the disk of 10.0.0.7 is full');
    const agent: AgentExecutor = {
      replies: 'either',
      execute() {
        throw new A2AError('UNAVAILABLE', 'Busy', { retryAfterMs: 60_000, metadata: { limit: 'queue' } }, { cause });
      },
    };
    const client = await connect(serverOf({ agent }), { retry: { attempts: 0 } });
    const error = await failureOf(client.sendMessage('hi'));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', message: 'Busy' });
    expect(error.details).toEqual({ retryAfterMs: 60_000, metadata: { limit: 'queue' } });
    expect(error.cause).toBeUndefined();
    expect((await failureOf(client.getTask('missing'))).name).toBe('TaskNotFoundError');
  });

  it('is limited, counted and recorded like any caller', async () => {
    const records: AuditRecord[] = [];
    const server = serverOf({
      agent: executor,
      audit: { write: (record) => void records.push(record) },
      rateLimit: { perPrincipal: { requests: 2, windowMs: 60_000 } },
    });
    const client = await connect(inProcess(server, { user: { id: 'app|ann' } }), { retry: { attempts: 0 } });
    await client.sendMessage('hi');
    await failureOf(client.getTask('missing'));
    const error = await failureOf(client.listTasks());
    expect(error.code).toBe('RESOURCE_EXHAUSTED');
    expect(error.details).toMatchObject({ metadata: { limit: 'principal' } });
    expect(records.map(({ operation, code, binding, principal }) => [operation, code, binding, principal])).toEqual([
      ['sendMessage', 'OK', 'IN_PROCESS', { kind: 'user', id: 'app|ann' }],
      ['getTask', 'TASK_NOT_FOUND', 'IN_PROCESS', { kind: 'user', id: 'app|ann' }],
      [undefined, 'RESOURCE_EXHAUSTED', 'IN_PROCESS', { kind: 'user', id: 'app|ann' }],
    ]);
    const metrics = await server.fetch(new Request('http://127.0.0.1/metrics', { headers: { accept: 'text/plain' } }));
    expect(await metrics.text()).toMatch(/binding="IN_PROCESS"/);
  });

  it('throws the reason of its signal, and gives the place of a stream back', async () => {
    const server = serverOf({ agent: executor, concurrency: { streams: 1 } });
    const client = await connect(server, { resume: { attempts: 0 }, retry: { attempts: 0 } });
    const reason = new Error('enough');
    const leaving = new AbortController();
    const waiting = client.sendMessage('wait', { signal: leaving.signal });
    leaving.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(client.listTasks({}, { signal: leaving.signal })).rejects.toBe(reason);
    for await (const _ of client.sendStreamingMessage('wait')) break;
    const cut = new AbortController();
    const stream = client.sendStreamingMessage('wait', { signal: cut.signal });
    await stream.next();
    await expect(client.sendStreamingMessage('hi').next()).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    cut.abort(reason);
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toBe(reason);
    for await (const _ of client.sendStreamingMessage('hi'));
  });

  it('resumes after an event, and repeats a message without effect', async () => {
    const client = await connect(serverOf({ agent: executor, idempotency: { anonymous: true } }));
    const message = { messageId: 'once', role: 'ROLE_USER' as const, parts: [{ text: 'hi' }] };
    const [one, two] = [await client.sendMessage({ message }), await client.sendMessage({ message })];
    expect(two).toEqual(one);
    expect((await client.listTasks()).totalSize).toBe(1);
    const { task } = (await client.sendMessage('ask')) as { task: { id: string } };
    const resumed = client.subscribeToTask(task.id, { lastEventId: '2' });
    expect((await resumed.next()).value).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } },
    });
    expect(resumed.lastEventId).toBe('3');
    await resumed.return();
  });

  it('is told when its server closes: streams end, and later calls fail at once', async () => {
    const server = serverOf({ agent: executor });
    const client = await connect(server);
    const { task } = (await client.sendMessage('ask')) as { task: { id: string } };
    const stream = client.subscribeToTask(task.id);
    await stream.next();
    const ended = failureOf(stream.next());
    await turned();
    await server.close({ graceMs: 30_000 });
    expect(await ended).toMatchObject({ name: 'ConnectionError', message: 'The server of the agent is closed' });
    expect(await failureOf(client.sendMessage('hi'))).toMatchObject({ name: 'ConnectionError', sent: false });
  });
});
