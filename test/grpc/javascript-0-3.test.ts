import { credentials } from '@grpc/grpc-js';
import { GrpcTransportFactory } from 'a2a-js-sdk-0.3/client/grpc';
import { createA2AServer } from 'parley-a2a/node';
import { grpcBinding } from 'parley-a2a-grpc';
import { describe, expect, it, onTestFinished } from 'vitest';

/** The official client of the 0.3 line, and a server that serves both versions. */
async function official() {
  const server = createA2AServer({
    agent: async function* (prompt: string) {
      yield 'Echo: ';
      yield prompt;
    },
    versions: ['1.0', '0.3'],
    bindings: [grpcBinding({ port: 0 })],
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  await server.listen(0);
  const place = server.interfaces.find((one) => one.protocolBinding === 'GRPC' && one.protocolVersion === '0.3');
  const factory = new GrpcTransportFactory({ grpcChannelCredentials: credentials.createInsecure() });
  return factory.create(place?.url ?? '', {} as never);
}

const message = (text: string) => ({
  kind: 'message' as const,
  messageId: crypto.randomUUID(),
  role: 'user' as const,
  parts: [{ kind: 'text' as const, text }],
});

describe('the official JavaScript client of the 0.3 line over gRPC', () => {
  it('sends a message, and reads the task', async () => {
    const client = await official();
    const answer = await client.sendMessage({ message: message('hello ✓'), configuration: { blocking: true } });
    if (answer.kind !== 'task') throw new Error('no task');
    expect(answer.status.state).toBe('completed');
    const task = await client.getTask({ id: answer.id });
    const texts = task.artifacts?.flatMap(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : '')));
    expect(texts).toEqual(['Echo: hello ✓']);
  });

  it('streams the events of a task to its end', async () => {
    const client = await official();
    const kinds: string[] = [];
    for await (const event of client.sendMessageStream({ message: message('hello') })) kinds.push(event.kind);
    expect(kinds[0]).toBe('task');
    expect(kinds.filter((kind) => kind === 'artifact-update')).toHaveLength(2);
    expect(kinds.at(-1)).toBe('status-update');
  });

  it('knows the error of a task that is not there', async () => {
    const client = await official();
    await expect(client.getTask({ id: 'missing' })).rejects.toMatchObject({ name: 'TaskNotFoundError' });
  });
});
