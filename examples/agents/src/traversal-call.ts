import type { Message, StreamResponse, Task } from 'parley-a2a';
import { A2AError, type Client, connect } from 'parley-a2a/client';
import { grpcTransport } from 'parley-a2a-grpc';
import { type CallAgent, instructionPart } from './traversal-instruction.js';

/** The end of the last text of a traversal whose task stays open. */
export const FINISHED = 'task-finished';

const BINDINGS = new Map([
  ['jsonrpc', 'JSONRPC'],
  ['grpc', 'GRPC'],
  ['http_json', 'HTTP+JSON'],
  ['http+json', 'HTTP+JSON'],
]);
const CALL_MS = 60_000;
const grpc = grpcTransport();

/**
 * Sends the inner instruction of a call to its agent, and returns the texts that come back.
 * @throws Error if the transport is unknown or the call fails.
 */
export async function callAgent(call: CallAgent, signal: AbortSignal): Promise<readonly string[]> {
  const { transport = '', agentCardUri = '', instruction = {} } = call;
  const binding = BINDINGS.get(transport.toLowerCase());
  if (binding === undefined) throw new Error(`The transport ${transport} is unknown`);
  const client = await connect(agentCardUri, {
    binding,
    prefer: ['1.0'],
    bindings: [grpc],
    signal,
    timeoutMs: CALL_MS,
  });
  const message = { parts: [instructionPart(instruction)] };
  const webhook = call.pushNotification && { url: `${call.pushNotification.url}/notifications`, token: 'itk-token' };
  const input = { message, ...(webhook && { configuration: { taskPushNotificationConfig: webhook } }) };
  if (call.resubscribe !== undefined) return resubscribed(client, input, signal);
  if (call.streaming !== true) return answerTexts(await client.sendMessage(input, { signal }));
  const texts = new Texts();
  for await (const event of client.sendStreamingMessage(input, { signal })) texts.addEvent(event);
  return texts.all;
}

type Input = Parameters<Client['sendStreamingMessage']>[0];

/** Drops the stream after its first event, subscribes to the task until it says that it is finished, and cancels it. */
async function resubscribed(client: Client, input: Input, signal: AbortSignal): Promise<readonly string[]> {
  const first = client.sendStreamingMessage(input, { signal });
  for await (const _ of first) if (first.taskId !== undefined) break;
  const { taskId } = first;
  if (taskId === undefined) throw new Error('The agent answered without a task');
  const texts = new Texts();
  for await (const event of client.subscribeToTask(taskId, { signal })) {
    texts.addEvent(event);
    if (texts.all.some((text) => text.includes(FINISHED))) break;
  }
  await client.cancelTask(taskId, { signal }).catch((error: unknown) => {
    // The task may have ended meanwhile.
    if (!(error instanceof A2AError) || error.code !== 'TASK_NOT_CANCELABLE') throw error;
  });
  return texts.all.map((text) => text.replaceAll(FINISHED, '').trim()).filter((text) => text !== '');
}

function answerTexts(answer: { readonly task: Task } | { readonly message: Message }): readonly string[] {
  const texts = new Texts();
  texts.addEvent(answer);
  return texts.all;
}

/** The texts of an agent in their order. A message that comes again counts once. */
class Texts {
  readonly all: string[] = [];
  readonly #seen = new Set<string>();

  addEvent(event: StreamResponse): void {
    if (event.message !== undefined) this.#add(event.message);
    else if (event.task !== undefined) {
      event.task.history?.forEach((message) => void this.#add(message));
      this.#add(event.task.status.message);
    } else if (event.statusUpdate !== undefined) this.#add(event.statusUpdate.status.message);
  }

  #add(message: Message | undefined): void {
    if (message === undefined || message.role !== 'ROLE_AGENT' || this.#seen.has(message.messageId)) return;
    this.#seen.add(message.messageId);
    for (const part of message.parts) if (part.text !== undefined) this.all.push(part.text);
  }
}
