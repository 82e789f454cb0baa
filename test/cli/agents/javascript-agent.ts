// The agent of `parley demo-server` on the official JavaScript SDK. Prints its URL when it listens.
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { AgentCard, Artifact, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';

const express = createRequire(import.meta.url)('express') as () => RequestListener & {
  use(...handlers: readonly unknown[]): void;
};
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Publishes the events of one turn. */
class Turn {
  readonly text: string;
  readonly #context: RequestContext;
  readonly #bus: ExecutionEventBus;

  constructor(context: RequestContext, bus: ExecutionEventBus) {
    this.#context = context;
    this.#bus = bus;
    const { parts } = context.userMessage;
    this.text = parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');
  }

  get #ids() {
    return { taskId: this.#context.taskId, contextId: this.#context.contextId };
  }

  submit(): void {
    const { taskId: id, contextId, userMessage, task } = this.#context;
    // This SDK requires the task as the first event of every turn.
    if (task !== undefined) return this.#bus.publish(AgentEvent.task(task));
    const history = [Message.toJSON(userMessage)];
    const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date().toISOString() };
    this.#bus.publish(AgentEvent.task(Task.fromJSON({ id, contextId, status, artifacts: [], history })));
  }

  status(state: string, text?: string): void {
    const message = text === undefined ? undefined : this.#said(text);
    const status = { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString(), ...(message && { message }) };
    this.#bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...this.#ids, status })));
  }

  artifact(name: string, part: object, { append = false, lastChunk = false } = {}): void {
    const artifact = Artifact.toJSON(Artifact.fromJSON({ artifactId: name, name, parts: [part] }));
    const event = { ...this.#ids, artifact, append, lastChunk };
    this.#bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON(event)));
  }

  message(text: string): void {
    this.#bus.publish(AgentEvent.message(Message.fromJSON({ ...this.#said(text), taskId: '' })));
  }

  #said(text: string) {
    return { messageId: randomUUID(), role: 'ROLE_AGENT', ...this.#ids, parts: [{ text }] };
  }
}

const canceled = new Set<string>();

async function play(turn: Turn, isFollowUp: boolean, isCanceled: () => boolean): Promise<void> {
  const word = turn.text.trim().split(/\s+/)[0]?.toLowerCase();
  if (!isFollowUp && word === 'message') return turn.message(`You said: ${turn.text}`);
  turn.submit();
  turn.status('WORKING');
  if (isFollowUp) {
    turn.artifact('greeting', { text: `Hello, ${turn.text}` });
    return turn.status('COMPLETED');
  }
  switch (word) {
    case 'fail':
      return turn.status('FAILED', 'This task was meant to fail');
    case 'reject':
      return turn.status('REJECTED', 'This task was meant to be rejected');
    case 'ask':
      return turn.status('INPUT_REQUIRED', 'What is your name?');
    case 'auth':
      return turn.status('AUTH_REQUIRED', 'Sign in first');
    case 'stream':
      for (const [index, piece] of ['one ', 'two ', 'three ', 'four'].entries()) {
        turn.artifact('count', { text: piece }, { append: index > 0 });
        await wait(50);
      }
      return turn.status('COMPLETED');
    case 'slow':
      for (const end = Date.now() + 1000 * Number(/\d+/.exec(turn.text)?.[0] ?? 30); Date.now() < end; ) {
        if (isCanceled()) return;
        await wait(20);
      }
      return turn.status('COMPLETED', 'Done at last');
    case 'file':
      turn.artifact('picture', { raw: PIXEL, filename: 'pixel.png', mediaType: 'image/png' });
      return turn.status('COMPLETED');
    case 'data':
      turn.artifact('facts', { data: { said: turn.text } });
      return turn.status('COMPLETED');
    default:
      turn.artifact('answer', { text: `You said: ${turn.text}` });
      return turn.status('COMPLETED');
  }
}

const FILE = { raw: 'R2VuZXJhdGVk', mediaType: 'text/plain', filename: 'output.txt' };
const FILE_URL = { url: 'https://example.com/output.txt', mediaType: 'text/plain', filename: 'output.txt' };

/** The artifacts of scenarios of the kit, by message id. */
const ARTIFACTS: Readonly<Record<string, object>> = {
  'tck-artifact-text': { text: 'Generated text content' },
  'tck-artifact-file': FILE,
  'tck-artifact-file-url': FILE_URL,
  'tck-artifact-data': { data: { key: 'value', count: 42 } },
  'tck-stream-001': { text: 'Stream hello from TCK' },
  'tck-stream-003': { text: 'Stream task lifecycle' },
  'tck-stream-ordering-001': { text: 'Ordered output' },
  'tck-stream-artifact-text': { text: 'Streamed text content' },
  'tck-stream-artifact-file': FILE,
};

/** Plays what a message id of the compatibility kit asks for; false where it asks for nothing. */
async function playKit(turn: Turn, messageId: string, isCanceled: () => boolean): Promise<boolean> {
  const [, prefix = ''] = /^((?:tck|test)-.+?)-[0-9a-f]{8}-/.exec(messageId) ?? [];
  if (prefix === '') return false;
  if (prefix === 'tck-message-response') turn.message('Direct message response');
  else {
    turn.submit();
    await playTask(turn, prefix, isCanceled);
  }
  return true;
}

async function playTask(turn: Turn, prefix: string, isCanceled: () => boolean): Promise<void> {
  if (prefix === 'tck-reject-task') return turn.status('REJECTED', 'rejected');
  turn.status('WORKING');
  const artifact = ARTIFACTS[prefix];
  if (artifact !== undefined) turn.artifact('generated', artifact);
  switch (prefix) {
    case 'tck-complete-task':
      return turn.status('COMPLETED', 'Hello from TCK');
    case 'tck-input-required':
      return turn.status('INPUT_REQUIRED', 'More, please');
    case 'tck-stream-artifact-chunked':
      turn.artifact('generated', { text: 'chunk-1 ' });
      turn.artifact('generated', { text: 'chunk-2' }, { append: true, lastChunk: true });
      return turn.status('COMPLETED');
    case 'test-resubscribe-message-id':
      for (let waited = 0; waited < 700; waited += 20) {
        if (isCanceled()) return;
        await wait(20);
      }
      return turn.status('COMPLETED');
    default:
      return turn.status('COMPLETED');
  }
}

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const card = AgentCard.fromJSON({
    name: 'Demo of the JavaScript SDK',
    description: 'An agent to practise with',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `${url}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/a2a/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['*/*'],
    defaultOutputModes: ['*/*'],
    skills: [{ id: 'demo', name: 'Demo', description: 'Does what the first word says', tags: ['demo'] }],
  });
  const executor = {
    async execute(context: RequestContext, bus: ExecutionEventBus) {
      const { taskId } = context;
      const turn = new Turn(context, bus);
      const isCanceled = () => canceled.has(taskId);
      const played = await playKit(turn, context.userMessage.messageId, isCanceled);
      if (!played) await play(turn, context.task !== undefined, isCanceled);
      bus.finished();
    },
    async cancelTask(taskId: string, bus: ExecutionEventBus) {
      canceled.add(taskId);
      const status = { state: 'TASK_STATE_CANCELED', timestamp: new Date().toISOString() };
      bus.publish(
        AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: contextOf(taskId), status })),
      );
      bus.finished();
    },
  };
  const contexts = new Map<string, string>();
  const contextOf = (taskId: string) => contexts.get(taskId) ?? '';
  const remembering = {
    ...executor,
    execute: (context: RequestContext, bus: ExecutionEventBus) => {
      contexts.set(context.taskId, context.contextId);
      return executor.execute(context, bus);
    },
  };
  const hooks = new InMemoryPushNotificationStore();
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    remembering,
    undefined,
    hooks,
    new DefaultPushNotificationSender(hooks),
  );
  const handling = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  const app = express();
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/a2a/rest', restHandler(handling));
  app.use('/a2a/jsonrpc', jsonRpcHandler(handling));
  server.on('request', app);
  process.stdout.write(`URL: ${url}\n`);
});
