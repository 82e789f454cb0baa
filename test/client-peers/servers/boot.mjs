// Shared by the servers on all versions of the JavaScript SDK.
import { createServer } from 'node:http';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import express from 'express';
import { play } from './play.mjs';

const { PORT } = process.env;

/** Address of the server. */
export const url = `http://127.0.0.1:${PORT}`;

const grpc = new Server();
const grpcPort = await new Promise((resolve, reject) => {
  grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
    if (error) reject(error);
    else resolve(port);
  });
});

/** Address of the server over gRPC. */
export const grpcAddress = `127.0.0.1:${grpcPort}`;

/** Members that all cards share. */
export const DESCRIBED = {
  version: '1.0.0',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'play', name: 'Play', description: 'Plays a part', tags: ['test'] }],
};

/**
 * Serves an agent that plays scenarios. `sdk` and `hosting` are the classes of one version of the SDK. `stageOf` makes
 * the stage of a scenario from a context and a bus. `overGrpc` has its gRPC service.
 */
export function serve({ card, stageOf, sdk, hosting, buses, overGrpc }) {
  const pushStore = new sdk.InMemoryPushNotificationStore();
  const requestHandler = new sdk.DefaultRequestHandler(
    card,
    new sdk.InMemoryTaskStore(),
    executorOf(stageOf),
    buses,
    pushStore,
    new sdk.DefaultPushNotificationSender(pushStore),
    { ...card, description: 'For those who ask' },
  );
  const handling = { requestHandler, userBuilder: hosting.UserBuilder.noAuthentication };
  grpc.addService(overGrpc.A2AService, overGrpc.grpcService(handling));
  const app = express();
  app.use('/.well-known/agent-card.json', hosting.agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/jsonrpc', hosting.jsonRpcHandler(handling));
  app.use('/rest', hosting.restHandler(handling));
  createServer(app).listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
}

function executorOf(stageOf) {
  const running = new Map();
  return {
    async execute(context, bus) {
      const canceled = new AbortController();
      running.set(context.taskId, { context, canceled });
      await play(stageOf(context, bus), canceled.signal);
      running.delete(context.taskId);
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      const { context, canceled } = running.get(taskId);
      stageOf(context, bus).status('CANCELED');
      canceled.abort();
    },
  };
}
