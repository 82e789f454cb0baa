import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type Client, connect } from 'parley-a2a/client';
import { grpcTransport } from 'parley-a2a-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer, GRPC_AGENTS } from './example-server.js';
import { BUILD_MS, goProgram, hasGo } from './go-tools.js';

const run = promisify(execFile);

// Without Go these tests are skipped.
describe.skipIf(!hasGo())('official Go SDK over gRPC', () => {
  let program: string;
  let peer: ChildProcess | undefined;
  let client: Client;

  beforeAll(async () => {
    program = await goProgram('go-grpc');
    const child = spawn(program, ['serve'], { stdio: ['pipe', 'pipe', 'inherit'] });
    peer = child;
    const [port] = await once(createInterface(child.stdout), 'line');
    const card = {
      name: 'Go peer',
      description: '',
      version: '1',
      supportedInterfaces: [{ url: `127.0.0.1:${port}`, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    client = await connect(card, { bindings: [grpcTransport()] });
  }, BUILD_MS);
  afterAll(() => {
    peer?.kill();
  });

  it('serves our client', async () => {
    expect(await client.sendMessage('hällo ✓')).toMatchObject({ message: { parts: [{ text: 'Echo: hällo ✓' }] } });
    const answer = await client.sendMessage('task some text');
    if (answer.task === undefined) throw new Error('no task');
    const { id } = answer.task;
    expect(await client.getTask(id)).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'some text' }] }],
    });
    const kinds: string[] = [];
    const stream = client.sendStreamingMessage('task x');
    for await (const event of stream) kinds.push(...Object.keys(event));
    expect(kinds).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
    expect(stream.state).toBe('TASK_STATE_COMPLETED');
    await expect(client.getTask(randomUUID())).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await expect(client.cancelTask(id)).rejects.toMatchObject({ code: 'TASK_NOT_CANCELABLE' });
    await expect(client.subscribeToTask(randomUUID()).next()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });

  it('calls our server', async () => {
    await using server = await ExampleServer.start({ program: GRPC_AGENTS });
    const card = await fetch(`${server.url}/spec/.well-known/agent-card.json`);
    const { supportedInterfaces } = (await card.json()) as { supportedInterfaces: Record<string, string>[] };
    const { url = '' } = supportedInterfaces.find((one) => one.protocolBinding === 'GRPC') ?? {};
    const { stdout } = await run(program, ['call', url], { timeout: 30_000 });
    expect(stdout.trim().split('\n')).toEqual([
      'send: TASK_STATE_COMPLETED',
      expect.stringMatching(/^stream: [4-9] events$/),
      'get: TASK_STATE_COMPLETED',
      'list: 1',
      'cancel is refused: true',
      'get is refused: true',
      'subscribe is refused: true',
    ]);
  });
});
