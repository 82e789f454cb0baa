// The 0.3 line of the official JavaScript SDK as a server, set up as its documentation does.
import { createServer } from 'node:http';
import {
  DefaultExecutionEventBusManager,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from 'a2a-js-sdk-0.3/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-js-sdk-0.3/server/express';
import express from 'express';
import { play } from './play.mjs';

const { PORT } = process.env;
const url = `http://127.0.0.1:${PORT}`;
const card = {
  name: 'JavaScript 0.3 peer',
  description: 'An agent on the 0.3 line of the official SDK',
  version: '1.0.0',
  protocolVersion: '0.3.0',
  url: `${url}/jsonrpc`,
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: `${url}/jsonrpc`, transport: 'JSONRPC' },
    { url: `${url}/rest`, transport: 'HTTP+JSON' },
  ],
  capabilities: { streaming: true, pushNotifications: true },
  supportsAuthenticatedExtendedCard: true,
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'play', name: 'Play', description: 'Plays a part', tags: ['test'] }],
};

const ENDS = new Set(['completed', 'failed', 'canceled', 'input-required']);
const messageOf = (text, ids) => ({
  kind: 'message',
  messageId: crypto.randomUUID(),
  role: 'agent',
  parts: [{ kind: 'text', text }],
  ...ids,
});

/** What the parts of the play are in the words of this SDK. */
function stageOf({ taskId, contextId, userMessage, task }, bus) {
  const statusOf = (state, text) => ({
    state,
    ...(text !== undefined && { message: messageOf(text, { taskId, contextId }) }),
    timestamp: new Date().toISOString(),
  });
  return {
    text: userMessage.parts.map((part) => part.text).join(''),
    isFollowUp: task !== undefined,
    reply: (text) => bus.publish(messageOf(text, { contextId })),
    resume() {},
    begin: () =>
      bus.publish({ kind: 'task', id: taskId, contextId, status: statusOf('submitted'), history: [userMessage] }),
    status(name, text) {
      const state = name.toLowerCase().replace('_', '-');
      bus.publish({
        kind: 'status-update',
        taskId,
        contextId,
        status: statusOf(state, text),
        final: ENDS.has(state),
      });
    },
    artifact(text, { append = false, last = false } = {}) {
      const artifact = { artifactId: 'result', name: 'result', parts: [{ kind: 'text', text }] };
      bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, append, lastChunk: last });
    },
  };
}

const running = new Map();
const executor = {
  async execute(context, bus) {
    const canceled = new AbortController();
    running.set(context.taskId, { context, bus, canceled });
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

const pushStore = new InMemoryPushNotificationStore();
const requestHandler = new DefaultRequestHandler(
  card,
  new InMemoryTaskStore(),
  executor,
  new DefaultExecutionEventBusManager(),
  pushStore,
  new DefaultPushNotificationSender(pushStore),
  { ...card, description: 'For those who ask' },
);
const handling = { requestHandler, userBuilder: UserBuilder.noAuthentication };
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/jsonrpc', jsonRpcHandler(handling));
app.use('/rest', restHandler(handling));
createServer(app).listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
