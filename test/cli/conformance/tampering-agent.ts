import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';

type Json = Readonly<Record<string, unknown>>;

/** A call to the agent, in the same form for both bindings. */
export interface TamperedCall {
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  /** The name of the operation in the request, such as `SendMessage`; empty if it cannot be parsed. */
  readonly operation: string;
  readonly params: Json;
  /** The id of the sent message. */
  readonly messageId: string;
  /** The envelope of a JSON-RPC request. */
  readonly envelope: Json;
}

/** The answer of an agent to a call, or an event of a stream. `{}` becomes an internal error. */
export interface Said {
  readonly result?: Json;
  readonly error?: Json;
  readonly status?: number;
  readonly contentType?: string;
  /** Replaces the id of the request. */
  readonly id?: unknown;
}

/** Changes an agent into a faulty one. A hook that changes nothing returns its argument. */
export interface Sabotage {
  readonly card?: (card: Json) => Json;
  readonly version?: string;
  readonly request?: (call: TamperedCall) => Json;
  readonly answer?: (call: TamperedCall, said: Said) => Said;
  /** Called for each stream. Returns the function that changes its events. */
  readonly events?: (call: TamperedCall) => (said: Said) => readonly Said[];
  /** True if this call is changed. Default: every call. */
  readonly tampersWith?: (call: TamperedCall) => boolean;
  /** True if streams are never closed. */
  readonly holds?: boolean;
}

const ROUTES: readonly (readonly [verb: string, route: RegExp, operation: string])[] = [
  ['POST', /\/message:send$/, 'SendMessage'],
  ['POST', /\/message:stream$/, 'SendStreamingMessage'],
  ['POST', /\/tasks\/(?<id>[^/:]+):cancel$/, 'CancelTask'],
  ['POST', /\/tasks\/(?<id>[^/:]+):subscribe$/, 'SubscribeToTask'],
  ['POST', /\/tasks\/(?<taskId>[^/]+)\/pushNotificationConfigs$/, 'CreateTaskPushNotificationConfig'],
  ['GET', /\/tasks\/(?<taskId>[^/]+)\/pushNotificationConfigs$/, 'ListTaskPushNotificationConfigs'],
  ['GET', /\/tasks\/(?<taskId>[^/]+)\/pushNotificationConfigs\/(?<id>[^/]+)$/, 'GetTaskPushNotificationConfig'],
  ['DELETE', /\/tasks\/(?<taskId>[^/]+)\/pushNotificationConfigs\/(?<id>[^/]+)$/, 'DeleteTaskPushNotificationConfig'],
  ['GET', /\/tasks\/(?<id>[^/:]+)$/, 'GetTask'],
  ['GET', /\/tasks$/, 'ListTasks'],
  ['GET', /\/extendedAgentCard$/, 'GetExtendedAgentCard'],
];

/** A real agent behind a proxy that changes its answers over one of its bindings. */
export class TamperingAgent implements AsyncDisposable {
  readonly #server: Server;
  readonly #binding: TamperedCall['binding'];
  readonly #sabotage: Sabotage;
  /** The address of the real agent's interface. */
  #target = '';
  url = '';

  private constructor(binding: TamperedCall['binding'], sabotage: Sabotage) {
    this.#binding = binding;
    this.#sabotage = sabotage;
    this.#server = createServer((request, response) => {
      this.#forward(request, response).catch((error: Error) => response.destroy(error));
    });
  }

  static async start(
    agentUrl: string,
    { binding, ...sabotage }: Sabotage & { readonly binding: TamperedCall['binding'] },
  ): Promise<TamperingAgent> {
    const agent = new TamperingAgent(binding, sabotage);
    agent.#server.listen(0, '127.0.0.1');
    await once(agent.#server, 'listening');
    agent.url = `http://127.0.0.1:${(agent.#server.address() as AddressInfo).port}`;
    const card = (await (
      await fetch(`${agentUrl}/.well-known/agent-card.json`, { headers: { 'a2a-version': '1.0' } })
    ).json()) as Json;
    const interfaces = card.supportedInterfaces as readonly Json[];
    const own = interfaces.find((one) => one.protocolBinding === binding && one.protocolVersion === '1.0');
    agent.#target = String(own?.url);
    agent.#card = { ...card, supportedInterfaces: [{ ...own, url: `${agent.url}/agent` }] };
    return agent;
  }

  #card: Json = {};

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    if (url.pathname === '/.well-known/agent-card.json') {
      const { card = (one) => one } = this.#sabotage;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card(this.#card)));
      return;
    }
    const body = await readText(request);
    const call = callOf(this.#binding, { verb: request.method ?? '', url, body });
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const answer = await fetch(this.#addressOf(call, url), {
      method: request.method ?? 'GET',
      headers: this.#headersOf(request),
      body: this.#bodyOf(call, body) || null,
      signal: gone.signal,
    });
    const type = answer.headers.get('content-type') ?? '';
    const spoils = this.#sabotage.tampersWith?.(call) ?? true;
    if (!spoils) {
      response.writeHead(answer.status, { 'content-type': type });
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
      return;
    }
    if (type.startsWith('text/event-stream')) return this.#stream(call, answer, response);
    const said = saidIn(call, await answer.text(), answer.status);
    const spoiled = this.#sabotage.answer?.(call, said) ?? said;
    const status = spoiled.status ?? (call.binding === 'HTTP+JSON' && 'result' in spoiled ? 200 : answer.status);
    const isBroken = !('result' in spoiled) && !('error' in spoiled);
    response.writeHead(isBroken && call.binding === 'HTTP+JSON' ? 500 : status, {
      'content-type': spoiled.contentType ?? type,
    });
    response.end(JSON.stringify(wireForm(call, spoiled)));
  }

  async #stream(call: TamperedCall, answer: Response, response: ServerResponse): Promise<void> {
    const { events, holds } = this.#sabotage;
    const spoil = events?.(call) ?? ((said) => [said]);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const lines = createInterface({ input: Readable.from(answer.body ?? []) });
    for await (const line of lines) {
      if (!line.startsWith('data:')) continue;
      for (const one of spoil(saidIn(call, line.slice(5), 200)))
        response.write(`data: ${JSON.stringify(wireForm(call, one))}\n\n`);
    }
    if (holds !== true) response.end();
  }

  #headersOf({ headers }: IncomingMessage): Record<string, string> {
    const { version = String(headers['a2a-version']) } = this.#sabotage;
    const type = headers['content-type'];
    const accept = headers.accept ?? '*/*';
    return { 'a2a-version': version, accept, ...(type !== undefined && { 'content-type': type }) };
  }

  #addressOf(call: TamperedCall, { pathname, search }: URL): string {
    const path = pathname.slice('/agent'.length);
    const { request } = this.#sabotage;
    if (request === undefined || !['GetTask', 'ListTasks'].includes(call.operation) || call.binding === 'JSONRPC')
      return `${this.#target}${path}${search}`;
    const { id: _, ...query } = request(call);
    return `${this.#target}${path}?${new URLSearchParams(query as Record<string, string>)}`;
  }

  #bodyOf(call: TamperedCall, body: string): string {
    const { request } = this.#sabotage;
    if (request === undefined || body === '' || call.operation === '') return body;
    const params = request(call);
    return JSON.stringify(call.binding === 'JSONRPC' ? { ...call.envelope, params } : params);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function callOf(
  binding: TamperedCall['binding'],
  { verb, url, body }: { readonly verb: string; readonly url: URL; readonly body: string },
): TamperedCall {
  const read = parseJson(body) ?? {};
  if (binding === 'JSONRPC') {
    const params = (read.params ?? {}) as Json;
    const operation = String(read.method ?? '');
    return { binding, operation, params, messageId: messageIdOf(params), envelope: read };
  }
  const [, route, operation = ''] = ROUTES.find(([own, route]) => own === verb && route.test(url.pathname)) ?? [];
  const isRead = body === '' || parseJson(body) !== undefined;
  const params = { ...Object.fromEntries(url.searchParams), ...read, ...route?.exec(url.pathname)?.groups };
  return { binding, operation: isRead ? operation : '', params, messageId: messageIdOf(params), envelope: {} };
}

function messageIdOf({ message }: Json): string {
  return String((message as Json | undefined)?.messageId ?? '');
}

function saidIn({ binding }: TamperedCall, text: string, status: number): Said {
  const value = parseJson(text) ?? {};
  if (binding === 'JSONRPC') return value as Said;
  return 'error' in value ? { error: value.error as Json, status } : { result: value };
}

/** Returns the answer in the form of the binding. */
function wireForm({ binding, envelope }: TamperedCall, { result, error, id = envelope.id }: Said): unknown {
  if (binding === 'HTTP+JSON')
    return result ?? { error: error ?? { code: 500, status: 'INTERNAL', message: 'broken on purpose' } };
  const outcome =
    result === undefined ? { error: error ?? { code: -32603, message: 'broken on purpose' } } : { result };
  return { jsonrpc: '2.0', id, ...outcome };
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
