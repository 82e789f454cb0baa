import { once } from 'node:events';
import { connect } from 'node:net';
import { newWebSocketRpcSession } from 'capnweb';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { capnwebBinding, type SessionLimits } from '../../packages/capnweb/src/index.js';
import { type GrpcBindingOptions, grpcBinding } from '../../packages/grpc/src/index.js';
import { A2AError } from '../../packages/parley/src/exports/everywhere.js';
import { fileTransfer, memoryFileStore } from '../../packages/parley/src/exports/files.js';
import { type A2AServerOptions, createA2AServer } from '../../packages/parley/src/exports/node.js';
import { type AgentExecutor, createAgentHandler } from '../../packages/parley/src/exports/server.js';
import { CapturingLogger } from '../../packages/parley/test/engine.js';
import { RawConnection } from '../../packages/parley/test/raw-connection.js';
import type { RemoteEntrance } from '../capnweb/session-world.js';
import { type Failed, failure, failureOf, GrpcTester, grpc } from '../grpc/grpc-world.js';
import { answerOf, http2Frame, PREFACE, type rawCall, TYPE } from '../grpc/raw-http2.js';
import { MOUNTS } from './mounted-agents.js';

export const HOUR = 3_600_000;
const FROM = { 'x-forwarded-for': '192.0.2.1' };
export const HELLO = { parameters: { 'A2A-Version': '1.0' } };

/**
 * An agent that works until it is told to stop. `long` makes a long task, `endless` a long stream, and `out` fails
 * with RESOURCE_EXHAUSTED.
 */
const agent: AgentExecutor = {
  replies: 'either',
  async execute({ text, signal }, events) {
    if (text === 'out') throw new A2AError('RESOURCE_EXHAUSTED', 'No more tokens', { metadata: { limit: 'tokens' } });
    await events.working();
    if (text === 'long') {
      const id = await events.artifact('x'.repeat(1_000_000));
      await events.append(id, 'x'.repeat(1_000_000));
      return void (await events.complete());
    }
    // More than the buffers of the system take.
    for (let left = text === 'endless' ? 30 : 0; left > 0; left--) {
      await events.artifact('x'.repeat(1_000_000), { artifactId: 'a' });
    }
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  },
};

export interface Options {
  readonly server?: object;
  readonly grpc?: GrpcBindingOptions;
  readonly sessions?: Partial<SessionLimits>;
  /** The adapter that serves the agent in the place of our own server, and the patience with its readers. */
  readonly mount?: { readonly on: keyof typeof MOUNTS; readonly stallMs: number };
}

/** A server with all bindings, or an agent on another server. */
export async function serveWorld({ server: options, grpc, sessions, mount }: Options) {
  const logger = new CapturingLogger();
  if (mount !== undefined) return { ...(await mountHandler(mount, logger)), address: '', port: 0, logger };
  const server = createA2AServer({
    agent,
    trustProxy: ['loopback'],
    bindings: [grpcBinding({ port: 0, ...grpc }), capnwebBinding({ limits: sessions ?? {} })],
    ...options,
    logger,
  } as unknown as A2AServerOptions);
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen(0);
  const { url: address = '' } = server.interfaces.find((one) => one.protocolBinding === 'GRPC') ?? {};
  return { url, address, port: Number(address.split(':').at(-1)), logger, figures: () => figuresOf(url) };
}

async function mountHandler({ on, stallMs }: NonNullable<Options['mount']>, logger: CapturingLogger) {
  const handler = createAgentHandler({ agent, metrics: true, logger, url: 'https://agents.example' });
  const { url, close } = await MOUNTS[on](handler, stallMs);
  onTestFinished(async () => {
    await handler.close({ graceMs: 0 });
    await close();
  });
  return { url, figures: () => figuresOf(url) };
}

async function figuresOf(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`, { headers: { accept: 'text/plain;version=0.0.4' } })).text();
}

export type World = Awaited<ReturnType<typeof serveWorld>>;

/** The words of a refusal. A connection that ends has no error with a name. */
export interface Refusal {
  readonly code: string | number;
  readonly limit?: string;
}

/** The way to a limit, and the answer of the server. */
export interface Row extends Options {
  /** The code of the error, or of the end of the connection. */
  readonly code: string | number;
  /** The connection ends, and no error has the name. */
  readonly endsConnection?: true;
  readonly reach: (world: World) => Promise<Refusal>;
}

export const message = (text: string, more: object = {}) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text }],
  ...more,
});

interface RpcAnswer {
  readonly result?: { readonly task?: { readonly id: string }; readonly tasks?: readonly { readonly id: string }[] };
  readonly error?: { readonly data: readonly { readonly reason: string; readonly metadata: { limit?: string } }[] };
}

export async function call({ url }: World, method: string, params: object, more: object = {}): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...FROM, ...more },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  if (response.headers.get('content-type') === 'text/event-stream') {
    onTestFinished(() => void response.body?.cancel());
    return {};
  }
  return (await response.json()) as RpcAnswer;
}

/** The refusal in an answer of JSON-RPC. */
export function refusalOf({ error }: RpcAnswer): Refusal {
  const [{ reason, metadata } = { reason: 'none', metadata: {} }] = error?.data ?? [];
  return { code: reason, ...metadata };
}

export const send = (world: World, text: string, more: object = {}, headers: object = {}) =>
  call(world, 'SendMessage', { message: message(text, more), configuration: { returnImmediately: true } }, headers);

/** Sends the same message `times` times, and returns the last answer. */
export async function repeatUntilRefused(times: number, sending: () => Promise<RpcAnswer>): Promise<Refusal> {
  for (let sent = 1; sent < times; sent++) await sending();
  return refusalOf(await sending());
}

function refusalFrom({ code, details }: Failed): Refusal {
  const info = details.find(({ type }) => type === 'ErrorInfo')?.value as { metadata: { limit: string } } | undefined;
  return { code, ...info?.metadata };
}

export async function failed(calling: Promise<unknown>): Promise<Refusal> {
  return refusalFrom(await failure(calling));
}

/** A caller of gRPC, who tells whose rate counts. */
export function caller({ address }: World, metadata: Readonly<Record<string, string>> = {}) {
  const tester = new GrpcTester(address);
  return (text: string) => tester.call('SendMessage', { message: message(text) as never }, metadata);
}

/** Sends a file. */
export async function upload({ url }: World, bytes: number, user?: string): Promise<Refusal> {
  const headers = { 'content-type': 'application/octet-stream', ...(user !== undefined && { 'x-user': user }) };
  const response = await fetch(`${url}/a2a/files`, { method: 'POST', body: Buffer.alloc(bytes), headers });
  const { error } = (await response.json()) as { error?: { details: { metadata: { limit: string } }[] } };
  return { code: response.status, ...error?.details[0]?.metadata };
}

export function files(options: object, store: Parameters<typeof memoryFileStore>[0] = {}): object {
  return { files: fileTransfer({ ...options, store: memoryFileStore(store) }) };
}

export function socketTo({ url }: World): WebSocket {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/a2a/capnweb`, { headers: FROM });
  socket.on('error', () => {});
  onTestFinished(() => socket.terminate());
  return socket;
}

/** A socket whose frames the test writes. Resolves with the code of its close. */
export async function waitForClose(
  world: World,
  write: (frame: (...parts: unknown[]) => void) => void,
): Promise<Refusal> {
  const socket = socketTo(world);
  await once(socket, 'open');
  const close = once(socket, 'close');
  write((...parts) => socket.send(JSON.stringify(parts)));
  const [code] = await close;
  return { code };
}

/** The first object of a session. */
export function entrance(world: World): RemoteEntrance {
  return newWebSocketRpcSession(socketTo(world) as never) as unknown as RemoteEntrance;
}

export async function rejectionOf(calling: PromiseLike<unknown>): Promise<Refusal> {
  try {
    await calling;
  } catch (error) {
    const { reason, details } = error as { reason: string; details: { metadata: { limit: string } }[] };
    return { code: reason, ...details[0]?.metadata };
  }
  return { code: 'none' };
}

/** Calls of gRPC log in at a service that hangs. */
export const logins = {
  waiting: 0,
  challenges: ['Bearer'],
  authenticate(credentials: { header(name: string): string | undefined }) {
    if (credentials.header('content-type') !== 'application/grpc') return { kind: 'user', user: { id: 'ada' } };
    this.waiting += 1;
    return new Promise<never>(() => {});
  },
};

/** The refusal of a call over a connection that follows no rules of gRPC. */
export async function refusedRaw(stream: ReturnType<typeof rawCall>): Promise<Refusal> {
  const { headers, status } = await answerOf(stream);
  const metadata = new grpc.Metadata();
  metadata.set('grpc-status-details-bin', Buffer.from(String(headers['grpc-status-details-bin']), 'base64'));
  return refusalFrom(failureOf({ code: status, details: '', metadata } as never));
}

/** Writes frames to a connection of HTTP/2 until the server ends it. */
export async function floodConnection({ port }: World, ...flood: readonly Buffer[]): Promise<Refusal> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const end = new Promise((resolve) => socket.once('close', resolve));
  socket.resume().write(Buffer.concat([PREFACE, http2Frame(TYPE.settings, 0)]));
  const chunk = Buffer.concat(Array.from({ length: 200 }, () => flood).flat());
  const attack = () => {
    if (socket.destroyed) return;
    if (socket.write(chunk)) setImmediate(attack);
    else socket.once('drain', attack);
  };
  attack();
  await end;
  return { code: 'closed' };
}

/** A bare connection to the port for HTTP, with these bytes sent on it. */
export async function rawHttp({ url }: World, bytes: string): Promise<RawConnection> {
  const connection = await RawConnection.open(Number(new URL(url).port), bytes);
  onTestFinished(() => connection[Symbol.dispose]());
  return connection;
}

/** The last answer to bytes on a connection of HTTP/1.1, which the server then ends. */
export async function rawRefusal(world: World, bytes: string): Promise<Refusal> {
  return lastAnswer(await rawHttp(world, bytes));
}

/** The last answer of a connection that the server ends. */
export async function lastAnswer(connection: RawConnection): Promise<Refusal> {
  const text = await connection.untilEnd();
  const code = Number([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].at(-1)?.[1]);
  const limit = /"limit": ?"(\w+)"/.exec(text)?.[1];
  return limit === undefined ? { code } : { code, limit };
}
