// The peer: the official SDK as its documentation sets it up, on Express with its store in memory, and the agent that
// does the same as ours.
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import {
  AgentCard,
  type Artifact,
  type Message,
  type Part,
  Role,
  Task,
  TaskState,
  type TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { storedTask } from '../stored-tasks.js';
import { type AnswerKind, CHUNKS, chunkText, nextTurn, WORKLOADS } from '../workloads.js';
import { portOf, ready, workloadArgument } from './subject-host.js';

type Execute = (context: RequestContext, bus: ExecutionEventBus) => void | Promise<void>;

const finish: Execute = (context, bus) => {
  begin(context, bus);
  publishChunk(context, bus, { ...artifact('response'), parts: [part(textOf(context.userMessage))] });
  bus.publish(AgentEvent.statusUpdate(status(context, TaskState.TASK_STATE_COMPLETED)));
};

const EXECUTORS: { readonly [Kind in AnswerKind]: Execute } = {
  call: ({ userMessage, contextId }, bus) => {
    bus.publish(AgentEvent.message(reply(textOf(userMessage), contextId)));
  },
  task: finish,
  get: finish,
  list: finish,
  stream: async (context, bus) => {
    begin(context, bus);
    const about = artifact('response');
    for (let index = 0; index < CHUNKS; index++) {
      await nextTurn();
      publishChunk(context, bus, { ...about, parts: [part(chunkText(index))] }, index > 0);
    }
    bus.publish(AgentEvent.statusUpdate(status(context, TaskState.TASK_STATE_COMPLETED)));
  },
};

const { kind, tasks } = WORKLOADS[workloadArgument()];
const execute = EXECUTORS[kind];
const executor: AgentExecutor = {
  async execute(context, bus) {
    await execute(context, bus);
    bus.finished();
  },
  async cancelTask() {},
};

const card = AgentCard.fromJSON({
  name: 'Peer',
  description: 'The peer of the benchmark',
  version: '1.0.0',
  supportedInterfaces: ['JSONRPC', 'HTTP+JSON'].map((protocolBinding) => ({
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
const app = express();
const store = new InMemoryTaskStore();
const handling = {
  requestHandler: new DefaultRequestHandler(card, store, executor),
  userBuilder: UserBuilder.noAuthentication,
};
app.use('/a2a/rest', restHandler(handling));
app.use(jsonRpcHandler(handling));
const anonymous = new ServerCallContext({ user: await UserBuilder.noAuthentication() });
for (let index = 0; index < tasks; index++) await store.save(Task.fromJSON(storedTask(index)), anonymous);
const server = createServer(app);
server.listen(0, '127.0.0.1', () => ready(portOf(server.address())));

function begin(context: RequestContext, bus: ExecutionEventBus): void {
  const { taskId, contextId, userMessage } = context;
  bus.publish(
    AgentEvent.task({
      id: taskId,
      contextId,
      status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    }),
  );
  bus.publish(AgentEvent.statusUpdate(status(context, TaskState.TASK_STATE_WORKING)));
}

function publishChunk(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  made: Artifact,
  append = false,
): void {
  bus.publish(
    AgentEvent.artifactUpdate({ taskId, contextId, artifact: made, append, lastChunk: false, metadata: undefined }),
  );
}

function status({ taskId, contextId }: RequestContext, state: TaskState): TaskStatusUpdateEvent {
  return {
    taskId,
    contextId,
    status: { state, message: undefined, timestamp: new Date().toISOString() },
    metadata: undefined,
  };
}

function artifact(name: string): Artifact {
  return { artifactId: randomUUID(), name, description: '', parts: [], metadata: undefined, extensions: [] };
}

function part(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
}

function reply(text: string, contextId: string): Message {
  return {
    messageId: randomUUID(),
    contextId,
    taskId: '',
    role: Role.ROLE_AGENT,
    parts: [part(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function textOf({ parts }: Message): string {
  return parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');
}
