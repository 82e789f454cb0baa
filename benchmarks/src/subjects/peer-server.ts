import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { AgentCard, Task } from '@a2a-js/sdk';
import {
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { storedTask } from '../stored-tasks.js';
import { portOf, ready } from './subject-host.js';

/** One turn of an agent of the peer. */
export type Execute = (context: RequestContext, bus: ExecutionEventBus) => void | Promise<void>;

const card = AgentCard.fromJSON({
  name: 'Peer',
  description: 'The peer of the benchmark',
  version: '1.0.0',
  supportedInterfaces: ['JSONRPC', 'HTTP+JSON', 'GRPC'].map((protocolBinding) => ({
    url: 'http://127.0.0.1/',
    protocolBinding,
    protocolVersion: '1.0',
  })),
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
});
// Express brings no types of its own.
const express = createRequire(import.meta.url)('express') as () => RequestListener & {
  use(...handlers: readonly unknown[]): void;
};

/** The agent of the peer, as its servers take it. */
export function peerHandling(execute: Execute, store = new InMemoryTaskStore()) {
  const executor = {
    async execute(context: RequestContext, bus: ExecutionEventBus) {
      await execute(context, bus);
      bus.finished();
    },
    async cancelTask() {},
  };
  return {
    requestHandler: new DefaultRequestHandler(card, store, executor),
    userBuilder: UserBuilder.noAuthentication,
  };
}

/** The official SDK as its documentation sets it up: on Express, with its store in memory and so many tasks in it. */
export async function servePeer(execute: Execute, tasks = 0): Promise<void> {
  const store = new InMemoryTaskStore();
  const handling = peerHandling(execute, store);
  const anonymous = new ServerCallContext({ user: await UserBuilder.noAuthentication() });
  for (let index = 0; index < tasks; index++) await store.save(Task.fromJSON(storedTask(index)), anonymous);
  const app = express();
  app.use('/a2a/rest', restHandler(handling));
  app.use(jsonRpcHandler(handling));
  const server = createServer(app);
  server.listen(0, '127.0.0.1', () => ready(portOf(server.address())));
}
