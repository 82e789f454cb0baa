// The official JavaScript SDK as a server, set up as its documentation does.
import { createServer } from 'node:http';
import { AgentCard, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { play } from './play.mjs';

const { PORT } = process.env;
const url = `http://127.0.0.1:${PORT}`;
const card = AgentCard.fromJSON({
  name: 'JavaScript peer',
  description: 'An agent on the official SDK',
  version: '1.0.0',
  supportedInterfaces: [
    { url: `${url}/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'play', name: 'Play', description: 'Plays a part', tags: ['test'] }],
});

const part = (text) => ({ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' });
const messageOf = ({ taskId, contextId }, text, isOfTask = true) => ({
  messageId: crypto.randomUUID(),
  contextId,
  taskId: isOfTask ? taskId : '',
  role: Role.ROLE_AGENT,
  parts: [part(text)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

/** What the parts of the play are in the words of this SDK. */
function stageOf(context, bus) {
  const { taskId, contextId, userMessage } = context;
  const statusOf = (state, text) => ({
    state: TaskState[`TASK_STATE_${state}`],
    message: text === undefined ? undefined : messageOf(context, text),
    timestamp: new Date().toISOString(),
  });
  return {
    text: userMessage.parts.map(({ content }) => content.value).join(''),
    isFollowUp: context.task !== undefined,
    reply: (text) => bus.publish(AgentEvent.message(messageOf(context, text, false))),
    // This SDK wants every stream to begin with a task.
    resume: () => bus.publish(AgentEvent.task(context.task)),
    begin() {
      const task = { id: taskId, contextId, status: statusOf('SUBMITTED'), artifacts: [], history: [userMessage] };
      bus.publish(AgentEvent.task({ ...task, metadata: undefined }));
    },
    status: (state, text) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, text), metadata: undefined })),
    artifact(text, { append = false, last = false } = {}) {
      const artifact = { artifactId: 'result', name: 'result', description: '', parts: [part(text)], extensions: [] };
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: last, metadata: undefined }),
      );
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
  undefined,
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
