import { type AgentCard, connect } from 'parley-a2a';
import { grpcTransport } from 'parley-a2a-grpc';
import { expect, it } from 'vitest';
import type { ClientBinding, ClientTransport } from '../../packages/parley/src/client/client-transport.js';
import type { StreamResponse } from '../../packages/parley/src/model/stream-response.js';
import type { Task } from '../../packages/parley/src/model/task.js';

const URL_OF_AGENT = 'https://agents.example.com';
const [taskId, contextId] = ['t1', 'c1'];
const status = { state: 'TASK_STATE_COMPLETED' } as const;
const task: Task = { id: taskId, contextId, status, history: [], artifacts: [] };
const card = {
  name: 'agent',
  description: '',
  version: '1',
  capabilities: { streaming: true },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  supportedInterfaces: [{ url: URL_OF_AGENT, protocolBinding: 'urn:example:late', protocolVersion: '0.3' }],
} as AgentCard;

/** A binding whose agent opens a stream with its first event, which comes after a call of GetTask. */
function lateBinding(): ClientBinding {
  return {
    opensStreamsLate: true,
    speaks: ({ protocolBinding }) => protocolBinding === 'urn:example:late',
    async transport(agentInterface) {
      const asked = Promise.withResolvers<void>();
      const call = async () => {
        asked.resolve();
        return task;
      };
      const stream: ClientTransport['stream'] = async () => {
        await asked.promise;
        const first = { done: false, value: [{ event: { statusUpdate: { taskId, contextId, status } } }] } as const;
        return { first, events: { next: async () => ({ done: true, value: undefined }) } };
      };
      return { agentInterface, call: call as unknown as ClientTransport['call'], stream };
    },
  };
}

it('a stream that opens late begins with the task', async () => {
  const client = await connect(card, { bindings: [lateBinding()] });
  const events: StreamResponse[] = [];
  for await (const event of client.subscribeToTask(taskId)) events.push(event);
  expect(events).toMatchObject([{ task: { id: taskId, status } }]);
});

it('streams of gRPC open late, and its pings find lost connections', () => {
  expect(grpcTransport()).toMatchObject({ opensStreamsLate: true, findsLostConnections: true });
});
