import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentCard } from 'parley-a2a';
import { describe, expect, it, type TestContext } from 'vitest';
import { freePort } from '../support/servers/free-port.js';
import { ExampleServer, temporaryFolder } from './example-server.js';
import { collect, type Frame, sendParams, Wire } from './wire.js';

const MAIN = fileURLToPath(new URL('../../examples/agents/dist/main.js', import.meta.url));

async function ownFolder({ onTestFinished }: TestContext): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A stream once its first frame is there. */
async function openFrames(frames: AsyncGenerator<Frame>): Promise<{ readonly all: Promise<Frame[]> }> {
  const first = await frames.next();
  const rest = collect(frames);
  return { all: rest.then((frames) => (first.done ? [] : [first.value, ...frames])) };
}

/** Runs the server where it cannot start. */
async function failedStart(env: Record<string, string>): Promise<{ code: unknown; lines: string[] }> {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH ?? '', DATABASE_URL: 'memory:', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 15_000,
    killSignal: 'SIGKILL',
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk));
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, lines: printed.trim().split('\n') };
}

describe.concurrent('the server process of the example agents', () => {
  it('says what it serves, where tasks are kept, and what they survive', async () => {
    await using server = await ExampleServer.start();
    const output = server.output.join('');
    for (const part of [`${server.url}/spec`, `${server.url}/a2a/rest`, 'agents.db', 'power-loss'])
      expect(output).toContain(part);
    for (const line of output.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) });
  });

  it.each([
    [{ GRPC_PORT: 'off' }, () => []],
    [{ GRPC_PORT: 'shared' }, (url: string) => [new URL(url).host]],
    [{ GRPC_PORT: '0', GRPC_ADDRESS: 'agents.example.com:443' }, () => ['agents.example.com:443']],
  ])('serves gRPC as %j says, and the card tells it', async (env, addresses) => {
    await using server = await ExampleServer.start({ env });
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as AgentCard;
    const interfaces = card.supportedInterfaces.filter(
      ({ protocolBinding, protocolVersion }) => protocolBinding === 'GRPC' && protocolVersion === '1.0',
    );
    expect(interfaces.map(({ url }) => url)).toEqual(addresses(server.url));
  });

  it.each([
    [{ PORT: 'http' }, /PORT="http" must be/],
    [{ GRPC_ADDRESS: 'https://agents.example.com' }, /GRPC_ADDRESS="https:.*" must be a host and a port/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL="loud" must be one of/],
    [{ DATABASE_URL: 'mysql://x' }, /mysql/],
    [{ PARLEY_PUBLIC_URL: 'https://example.com' }, /PARLEY_PUBLIC_URL is no setting/],
    [{ TCK_STREAMING_TIMEOUT: 'long' }, /TCK_STREAMING_TIMEOUT="long"/],
    [{ A2A_ALLOW_ANONYMOUS: 'perhaps' }, /A2A_ALLOW_ANONYMOUS="perhaps"/],
    [{ HOST: '0.0.0.0' }, /A2A_ALLOW_ANONYMOUS|allowAnonymous/],
    [{ HOST: '192.0.2.1', A2A_ALLOW_ANONYMOUS: 'true' }, /192\.0\.2\.1.*set HOST to an address of this machine/],
  ])('refuses to start with %j, in one line', async (env, says) => {
    const { code, lines } = await failedStart(env);
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(says)]);
  });

  it('starts beside variables of other tools and warns with the closest setting', async () => {
    await using server = await ExampleServer.start({ env: { A2A_PUBLIC_ULR: 'https://example.com' } });
    expect(server.output.join('')).toContain(
      'A2A_PUBLIC_ULR is no setting of this server (did you mean A2A_PUBLIC_URL?)',
    );
  });

  it('tells the port that it took, not the 0 that it was given', async () => {
    await using server = await ExampleServer.start({ port: 0 });
    const { port, msg } = JSON.parse(server.output.join('').trim().split('\n').at(-1) ?? '');
    expect(msg).toMatch(new RegExp(`:${port}$`));
  });

  it('refuses to share its file or its port with another one, in one line', async (context) => {
    const folder = await ownFolder(context);
    await using server = await ExampleServer.start({ folder });
    const file = join(folder, 'agents.db');
    const locked = await failedStart({ DATABASE_URL: `sqlite:${file}` });
    expect([locked.code, locked.lines]).toEqual([1, [expect.stringMatching(/agents\.db/)]]);
    const taken = await failedStart({ PORT: String(server.port) });
    expect([taken.code, taken.lines]).toEqual([1, [expect.stringMatching(`${server.port}: stop .*, or set PORT$`)]]);
    const grpc = await failedStart({ GRPC_PORT: String(server.port) });
    expect([grpc.code, grpc.lines]).toEqual([1, [expect.stringMatching(`${server.port} is in use`)]]);
  });

  it('tells the public address in its cards when it has one', async () => {
    await using server = await ExampleServer.start({ env: { A2A_PUBLIC_URL: 'https://agents.example.com/a2a/' } });
    const { body } = await new Wire(server.url).send('/spec/.well-known/agent-card.json');
    expect(body).toMatchObject({
      supportedInterfaces: [
        { url: 'https://agents.example.com/a2a/spec' },
        {},
        { url: 'https://agents.example.com/a2a/spec/capnweb' },
        {},
      ],
    });
  });

  it('lets work end when it is asked to stop, sends watchers away, and ends with 0', async (context) => {
    const [folder, port] = [await ownFolder(context), await freePort()];
    const server = await ExampleServer.start({ folder, port });
    const wire = new Wire(server.url);
    const contextId = randomUUID();
    const working = wire.send('/spec/message:send', { body: sendParams('task-lifecycle', { contextId }) });
    while ((await wire.send(`/spec/tasks?contextId=${contextId}`)).body.totalSize === 0);
    const waiting = await wire.send('/spec/message:send', { body: sendParams('multi-turn') });
    const id = (waiting.body.task as { id: string }).id;
    const watching = await openFrames(wire.frames(`/spec/tasks/${id}:subscribe`));
    const streaming = await openFrames(wire.frames('/spec/message:stream', { body: sendParams('task-lifecycle') }));

    expect(await server.stop()).toBe(0);
    expect((await working).body).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const streamed = await streaming.all;
    expect(streamed.at(-1)?.data).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(await watching.all).toHaveLength(1);

    await using again = await ExampleServer.start({ folder, port });
    const after = new Wire(again.url);
    expect((await after.send(`/spec/tasks/${id}`)).body).toEqual(waiting.body.task);
  });

  it('ends what does not end by itself when it is asked to stop, saying why', { timeout: 40_000 }, async (context) => {
    const [folder, port] = [await ownFolder(context), await freePort()];
    const server = await ExampleServer.start({ folder, port });
    const body = { ...sendParams('task-cancel'), configuration: { returnImmediately: true } };
    const { task } = (await new Wire(server.url).send('/spec/message:send', { body })).body as { task: { id: string } };
    expect(await server.stop()).toBe(0);
    await using again = await ExampleServer.start({ folder, port });
    expect((await new Wire(again.url).send(`/spec/tasks/${task.id}`)).body).toMatchObject({
      status: { state: 'TASK_STATE_FAILED', message: { parts: [{ text: expect.stringMatching(/./) }] } },
    });
  });
});
