import { randomUUID } from 'node:crypto';
import { ListTasksResponse, Message, SendMessageRequest, StreamResponse, Task, taskStateFromJSON } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { isArray, type Json } from './scenarios.js';

/** The bindings that the example server offers. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
export type Binding = (typeof BINDINGS)[number] | 'GRPC';

/** A request to an agent, as JSON of 1.0. */
export interface Outgoing {
  readonly message: {
    readonly messageId?: string;
    readonly taskId?: string;
    readonly contextId?: string;
    readonly parts?: readonly Json[];
  };
  readonly configuration?: Readonly<Record<string, Json>>;
}

/** A JSON object of the protocol, as the tests look at it. */
export type JsonObject = { readonly [name: string]: Json };

/** The official JavaScript client on one binding, speaking v1.0 JSON on its upper side. */
export class JavaScriptPeer {
  readonly client: Client;

  private constructor(client: Client) {
    this.client = client;
  }

  static async connect(url: string, binding: Binding, fetchImpl: typeof fetch): Promise<JavaScriptPeer> {
    const options = { fetchImpl, legacyCompat: { enabled: true } };
    const factory = new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [
          new JsonRpcTransportFactory(options),
          new RestTransportFactory(options),
          new GrpcTransportFactory({ legacyCompat: options.legacyCompat }),
        ],
        preferredTransports: [binding],
        cardResolver: new DefaultAgentCardResolver(options),
      }),
    );
    const card = `${url.replace(/\/$/, '')}/.well-known/agent-card.json`;
    const client = await factory.createFromUrl(card, '');
    if (client.transport.protocolName !== binding) throw new Error(`the client chose ${client.transport.protocolName}`);
    return new JavaScriptPeer(client);
  }

  /** The version that the client has chosen by itself. */
  get version(): string {
    return this.client.transport.protocolVersion;
  }

  /** The part of a pattern that this client can see. Over HTTP+JSON and gRPC it loses members of 0.3. */
  visible(pattern: Json): Json {
    if (this.version === '1.0' || this.client.transport.protocolName === 'JSONRPC') return pattern;
    return without(pattern, ['filename', 'append']);
  }

  /** Waits for the turn to end, unless told otherwise; resolves to a task or a message. */
  async send(outgoing: Outgoing): Promise<{ readonly task?: JsonObject; readonly message?: JsonObject }> {
    const answer = await this.client.sendMessage(requestOf(outgoing));
    return 'messageId' in answer
      ? { message: Message.toJSON(answer) as JsonObject }
      : { task: Task.toJSON(answer) as JsonObject };
  }

  async *stream(outgoing: Outgoing): AsyncGenerator<JsonObject> {
    for await (const event of this.client.sendMessageStream(requestOf(outgoing))) {
      yield StreamResponse.toJSON(event) as JsonObject;
    }
  }

  /** Streams even where the card offers no streaming; the client itself would send plainly then. */
  async *streamUnasked(outgoing: Outgoing): AsyncGenerator<JsonObject> {
    const options = { serviceParameters: { 'A2A-Version': '1.0' } };
    for await (const event of this.client.transport.sendMessageStream(requestOf(outgoing), options)) {
      yield StreamResponse.toJSON(event) as JsonObject;
    }
  }

  async *subscribe(id: string, signal?: AbortSignal): AsyncGenerator<JsonObject> {
    for await (const event of this.client.resubscribeTask({ tenant: '', id }, signal && { signal })) {
      yield StreamResponse.toJSON(event) as JsonObject;
    }
  }

  async task(id: string, historyLength?: number): Promise<JsonObject> {
    return Task.toJSON(await this.client.getTask({ tenant: '', id, historyLength })) as JsonObject;
  }

  async cancel(id: string, metadata?: Record<string, Json>): Promise<JsonObject> {
    return Task.toJSON(await this.client.cancelTask({ tenant: '', id, metadata })) as JsonObject;
  }

  /** Lists with the given filters. */
  async list(filters: {
    contextId?: string;
    status?: string;
    pageSize?: number;
    pageToken?: string;
    historyLength?: number;
    statusTimestampAfter?: string;
    includeArtifacts?: boolean;
  }): Promise<{ tasks: readonly JsonObject[]; nextPageToken: string; pageSize: number; totalSize: number }> {
    const page = await this.client.listTasks({
      tenant: '',
      contextId: filters.contextId ?? '',
      status: taskStateFromJSON(filters.status ?? 'TASK_STATE_UNSPECIFIED'),
      pageSize: filters.pageSize,
      pageToken: filters.pageToken ?? '',
      historyLength: filters.historyLength,
      statusTimestampAfter: filters.statusTimestampAfter,
      includeArtifacts: filters.includeArtifacts,
    });
    const { nextPageToken, pageSize, totalSize } = page;
    const { tasks = [] } = ListTasksResponse.toJSON(page) as { tasks?: JsonObject[] };
    return { tasks, nextPageToken, pageSize, totalSize };
  }
}

function requestOf({ message, configuration }: Outgoing): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: { messageId: randomUUID(), role: 'ROLE_USER', ...message },
    configuration: configuration ?? {},
  });
}

/** The pattern without what these members say, at any depth. */
export function without(pattern: Json, names: readonly string[]): Json {
  if (isArray(pattern)) return pattern.map((item) => without(item, names));
  if (typeof pattern !== 'object' || pattern === null) return pattern;
  const kept = Object.entries(pattern).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, without(member, names)]));
}
