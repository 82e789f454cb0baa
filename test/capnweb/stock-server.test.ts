import { once } from 'node:events';
import { newWebSocketRpcSession, RpcTarget } from 'capnweb';
import { type AgentCard, connect, type StreamResponse } from 'parley-a2a';
import { CAPNWEB_BINDING, capnwebTransport } from 'parley-a2a-capnweb';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';

const task = (state: string) => ({ id: 't', contextId: 'c', status: { state } });
const EVENTS = [
  { task: task('TASK_STATE_SUBMITTED') },
  { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } },
];

/** An agent on the stock library alone: the objects of `docs/capnweb.md` without any code of Parley. */
class StockAgent extends RpcTarget {
  sendMessage() {
    return { task: task('TASK_STATE_COMPLETED') };
  }
  getTask({ id }: { readonly id: string }) {
    if (id === 't') return task('TASK_STATE_COMPLETED');
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND' }];
    throw Object.assign(new Error('Task not found'), { reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org', details });
  }
  sendStreamingMessage() {
    const items = EVENTS.map((event, at) => ({ seq: at + 1, event })).values();
    const events = new ReadableStream({
      pull(controller) {
        const { value, done } = items.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    return { events, subscription: new StockSubscription() };
  }
}

class StockSubscription extends RpcTarget {
  close() {}
}

class StockEntrance extends RpcTarget {
  authenticate() {
    return new StockAgent();
  }
}

it('our client calls an agent that is made of the stock library', async () => {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  });
  sockets.on('connection', (socket) => {
    newWebSocketRpcSession(socket as unknown as globalThis.WebSocket, new StockEntrance());
  });
  await once(sockets, 'listening');
  const { port } = sockets.address() as { readonly port: number };
  const card: AgentCard = {
    name: 'Stock',
    description: '',
    version: '1',
    supportedInterfaces: [{ url: `ws://127.0.0.1:${port}/`, protocolBinding: CAPNWEB_BINDING, protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
  const client = await connect(card, { bindings: [capnwebTransport()] });
  expect(await client.sendMessage('hi')).toMatchObject({ task: { id: 't' } });
  expect(await client.getTask('t')).toMatchObject({ id: 't' });
  await expect(client.getTask('x')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  const events: StreamResponse[] = [];
  for await (const event of client.sendStreamingMessage('hi')) events.push(event);
  expect(events).toMatchObject(EVENTS);
  client.close();
});
