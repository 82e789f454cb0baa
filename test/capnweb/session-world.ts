import { newWebSocketRpcSession } from 'capnweb';
import type { AgentCard, Task } from 'parley-a2a';
import { type A2AServerOptions, createA2AServer } from 'parley-a2a/node';
import { type CapnwebBindingOptions, capnwebBinding } from 'parley-a2a-capnweb';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';

/** The result of a call, which accepts pipelined calls before it arrives. */
type Pending<T, Members = unknown> = Promise<T> & Disposable & Members;
type Items = readonly { readonly seq: number; readonly event: object; readonly reset?: true }[];

/** The first object of a session. */
export interface RemoteEntrance extends Disposable {
  ping(): Pending<string>;
  getAgentCard(): Pending<AgentCard>;
  authenticate(hello: object): Pending<RemoteAgent, RemoteAgent>;
}

/** An agent of one principal. */
export interface RemoteAgent extends Disposable {
  ping(): Pending<string>;
  task(id: unknown): Pending<RemoteTask, RemoteTask>;
  renew(credential: object): Pending<{ expiresAt?: string }>;
  sendMessage(
    request: object,
    options?: object,
  ): Pending<{ task: Task }, { readonly task: { readonly id: Promise<string> } }>;
  sendStreamingMessage(request: object): Pending<RemoteFeed>;
  getTask(request: object, options?: object): Pending<Task>;
  listTasks(request: object): Pending<{ readonly tasks: readonly Task[] }>;
  cancelTask(request: object): Pending<Task>;
  subscribeToTask(request: object): Pending<RemoteFeed>;
  getExtendedAgentCard(request: object): Pending<AgentCard>;
}

/** A task of one principal. */
export interface RemoteTask extends Disposable {
  get(options?: object): Pending<Task>;
  cancel(): Pending<Task>;
  send(message: object): Pending<{ task: Task }>;
  subscribe(options?: object): Pending<RemoteFeed>;
  watch(sink: (items: Items) => unknown, options?: object): Pending<Disposable>;
  view(): Pending<RemoteTask, RemoteTask>;
}

/** The events of a stream. */
export interface RemoteFeed extends Disposable {
  readonly events: ReadableStream<Items[number]>;
  readonly subscription: Disposable & { close(): Pending<unknown> };
}

/** The parameters of each test. */
export const HELLO = { parameters: { 'A2A-Version': '1.0' } };

/** A message with one text. */
export const message = (text: string, more: object = {}) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text }],
  ...more,
});

/** The certificate of a client, and the authority of the server. */
type TlsOptions = Pick<WebSocket.ClientOptions, 'cert' | 'key' | 'ca'>;

/** A server with the binding, and the stock client. */
export async function servedAgent(
  options: Partial<A2AServerOptions> = {},
  binding: CapnwebBindingOptions = {},
): Promise<{
  readonly url: string;
  readonly socketUrl: string;
  readonly server: ReturnType<typeof createA2AServer>;
  open(
    headers?: Record<string, string>,
    tls?: TlsOptions,
  ): { readonly socket: WebSocket; readonly entrance: RemoteEntrance };
  agent(): RemoteAgent;
}> {
  const server = createA2AServer({
    agent: (prompt: string) => `Echo: ${prompt}`,
    health: false,
    bindings: [capnwebBinding(binding)],
    ...options,
  } as A2AServerOptions);
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const socketUrl = `${url.replace('http', 'ws')}/a2a/capnweb`;
  const open = (headers: Record<string, string> = {}, tls: TlsOptions = {}) => {
    const socket = new WebSocket(socketUrl, { headers, ...tls });
    socket.on('error', () => {});
    onTestFinished(() => socket.terminate());
    const entrance = newWebSocketRpcSession(socket as unknown as globalThis.WebSocket) as unknown as RemoteEntrance;
    return { socket, entrance };
  };
  return { url, socketUrl, server, open, agent: () => open().entrance.authenticate(HELLO) };
}

/** The error of a call, as its own members. */
export async function refusal(call: PromiseLike<unknown>): Promise<Record<string, unknown>> {
  try {
    await call;
  } catch (error) {
    return { message: (error as Error).message, ...(error as object) };
  }
  throw new Error('The call was not refused');
}

/** Resolves with the code and reason with which a socket closes. */
export function waitForClose(socket: WebSocket): Promise<{ readonly code: number; readonly reason: string }> {
  return new Promise((resolve) => socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })));
}

/** All items of a feed. */
export async function itemsOf(feed: Pick<RemoteFeed, 'events'>): Promise<Items[number][]> {
  const items: Items[number][] = [];
  for await (const item of feed.events) items.push(item);
  return items;
}
