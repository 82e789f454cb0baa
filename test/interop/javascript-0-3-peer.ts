import { randomUUID } from 'node:crypto';
import type { MessageSendParams } from 'a2a-js-sdk-0.3';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'a2a-js-sdk-0.3/client';
import { GrpcTransport, GrpcTransportFactory } from 'a2a-js-sdk-0.3/client/grpc';
import { type Binding, type JsonObject, type Outgoing, without } from './javascript-peer.js';
import { isArray, type Json } from './scenarios.js';

/**
 * The official JavaScript client of 0.3 on one binding. It converts to JSON of 1.0, so that it plays the scenarios of
 * all clients. It also checks members that exist only in 0.3.
 */
export class JavaScript03Peer {
  readonly version = '0.3';
  readonly client: Client;
  readonly #binding: Binding;

  private constructor(client: Client, binding: Binding) {
    this.client = client;
    this.#binding = binding;
  }

  static async connect(url: string, binding: Binding, fetchImpl: typeof fetch): Promise<JavaScript03Peer> {
    const factory = new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [
          new JsonRpcTransportFactory({ fetchImpl }),
          new RestTransportFactory({ fetchImpl }),
          new GrpcTransportFactory(),
        ],
        preferredTransports: [binding],
        cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
      }),
    );
    const card = `${url.replace(/\/$/, '')}/.well-known/agent-card.json`;
    const client = await factory.createFromUrl(card, '');
    // Without a fitting interface the client takes another one, and tells no one.
    if ((binding === 'GRPC') !== client.transport instanceof GrpcTransport) throw new Error(`no ${binding} is chosen`);
    return new JavaScript03Peer(client, binding);
  }

  /** Over HTTP+JSON and gRPC the client drops the names of files, and `append`. */
  visible(pattern: Json): Json {
    return this.#binding === 'JSONRPC' ? pattern : without(pattern, ['filename', 'append']);
  }

  async send(outgoing: Outgoing): Promise<{ readonly task?: JsonObject; readonly message?: JsonObject }> {
    return answerOf(await this.client.sendMessage(paramsOf(outgoing)));
  }

  async *stream(outgoing: Outgoing): AsyncGenerator<JsonObject> {
    yield* this.#checked(this.client.sendMessageStream(paramsOf(outgoing)));
  }

  async *subscribe(id: string, signal?: AbortSignal): AsyncGenerator<JsonObject> {
    yield* this.#checked(this.client.resubscribeTask({ id }, signal && { signal }));
  }

  async task(id: string, historyLength?: number): Promise<JsonObject> {
    return current(await this.client.getTask({ id, ...(historyLength !== undefined && { historyLength }) }));
  }

  async cancel(id: string, metadata: Record<string, Json> = {}): Promise<JsonObject> {
    return current(await this.client.cancelTask({ id, metadata }));
  }

  /** A stream ends with the status event that says so, or with a message; nothing comes after it. */
  async *#checked(events: AsyncIterable<object>): AsyncGenerator<JsonObject> {
    let over = false;
    for await (const event of events) {
      if (over) throw new Error(`an event after the final one: ${JSON.stringify(event)}`);
      const { kind, final } = event as { kind: string; final?: boolean };
      if (kind === 'status-update' && typeof final !== 'boolean') throw new Error('a status event without `final`');
      over = final === true || kind === 'message';
      yield answerOf(event);
    }
    if (!over) throw new Error('the stream ended without a final event');
  }
}

/** A request in the shapes of 0.3. */
export function paramsOf({ message, configuration }: Outgoing): MessageSendParams {
  const { parts = [], ...rest } = message;
  const { returnImmediately, ...others } = configuration ?? {};
  return {
    message: { kind: 'message', messageId: randomUUID(), role: 'user', ...rest, parts: parts.map(oldPart) },
    configuration: { ...others, blocking: returnImmediately !== true },
  } as MessageSendParams;
}

function oldPart(part: Json): object {
  const { text, data, raw, url, filename: name, mediaType: mimeType } = part as JsonObject;
  if (text !== undefined) return { kind: 'text', text };
  if (data !== undefined) return { kind: 'data', data };
  return { kind: 'file', file: { ...(raw === undefined ? { uri: url } : { bytes: raw }), mimeType, name } };
}

const MEMBER_OF_KIND: Readonly<Record<string, string>> = {
  task: 'task',
  message: 'message',
  'status-update': 'statusUpdate',
  'artifact-update': 'artifactUpdate',
};

/** A task, a message or an event of 0.3 as a member of an answer of 1.0. */
export function answerOf(value: object): JsonObject {
  const { kind } = value as { kind: string };
  return { [MEMBER_OF_KIND[kind] ?? kind]: current(value) };
}

/** An object of 0.3 in the names of 1.0; the client of that time fills in some empty members. */
export function current(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value), (name, member: Json) => {
    if (name === 'state') return `TASK_STATE_${String(member).replace('-', '_').toUpperCase()}`;
    if (name === 'role') return `ROLE_${String(member).toUpperCase()}`;
    if (name === 'parts') return (member as readonly Json[]).map(currentPart);
    if (name === 'kind' || name === 'final' || (isArray(member) && member.length === 0)) return undefined;
    return (name === 'append' || name === 'lastChunk') && member === false ? undefined : member;
  }) as JsonObject;
}

function currentPart(part: Json): Json {
  const { file, ...rest } = part as JsonObject;
  if (file === undefined) return rest;
  const { bytes, uri, mimeType, name } = file as JsonObject;
  return { ...rest, ...(bytes === undefined ? { url: uri } : { raw: bytes }), mediaType: mimeType, filename: name };
}
