import type { Part } from 'parley-a2a';
import type { EventQueue, RequestContext } from 'parley-a2a/server';
import type { AgentClock } from './agent-clock.js';

/** Tools of a behaviour, in addition to the turn. */
export interface BehaviourTools {
  readonly clock: AgentClock;
  /** Time that a compatibility kit waits for a stream, in ms. A task for resubscription runs twice as long. */
  readonly streamingTimeoutMs: number;
}

/** The reaction of an agent to one message. */
export type Behaviour = (context: RequestContext, events: EventQueue, tools: BehaviourTools) => Promise<void>;

const FILE: Part = {
  raw: Buffer.from('Generated file content').toString('base64'),
  mediaType: 'text/plain',
  filename: 'output.txt',
};
const FILE_URL: Part = { url: 'https://example.com/output.txt', mediaType: 'text/plain', filename: 'output.txt' };
const DATA: Part = { data: { key: 'value', count: 42 } };

function completeWith(content: string | Part): Behaviour {
  return async (_context, events) => {
    await events.artifact(content);
    await events.complete();
  };
}

function workThenCompleteWith(content: string | Part): Behaviour {
  return async (_context, events) => {
    await events.working();
    await events.artifact(content);
    await events.complete();
  };
}

const streamInChunks: Behaviour = async (_context, events) => {
  await events.working();
  const artifactId = await events.artifact('chunk-1 ');
  await events.append(artifactId, 'chunk-2', { lastChunk: true });
  await events.complete();
};

const workForSubscribers: Behaviour = async ({ signal }, events, { clock, streamingTimeoutMs }) => {
  await events.working();
  if (await clock.pause(2 * streamingTimeoutMs + 500, signal)) await events.complete();
};

/** Behaviours by the prefix of `messageId`. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  'tck-complete-task': (_context, events) => events.complete('Hello from TCK'),
  'tck-artifact-text': completeWith('Generated text content'),
  'tck-artifact-file': completeWith(FILE),
  'tck-artifact-file-url': completeWith(FILE_URL),
  'tck-artifact-data': completeWith(DATA),
  'tck-message-response': (_context, events) => events.message('Direct message response'),
  'tck-input-required': (_context, events) => events.inputRequired('Please send more input.'),
  'tck-reject-task': (_context, events) => events.reject('rejected'),
  'tck-stream-001': workThenCompleteWith('Stream hello from TCK'),
  'tck-stream-002': (_context, events) => events.complete(),
  'tck-stream-003': workThenCompleteWith('Stream task lifecycle'),
  'tck-stream-ordering-001': workThenCompleteWith('Ordered output'),
  'tck-stream-artifact-text': workThenCompleteWith('Streamed text content'),
  'tck-stream-artifact-file': workThenCompleteWith(FILE),
  'tck-stream-artifact-chunked': streamInChunks,
  'test-resubscribe-message-id': workForSubscribers,
  'tck-': ({ message }, events) => events.complete(`Unhandled messageId prefix: ${message.messageId}`),
};

const LONGEST_FIRST = Object.entries(BEHAVIOURS).sort(([a], [b]) => b.length - a.length);

/** The behaviour for a message id. The longest matching prefix decides. */
export function behaviourFor(messageId: string): Behaviour | undefined {
  return LONGEST_FIRST.find(([prefix]) => messageId.startsWith(prefix))?.[1];
}
