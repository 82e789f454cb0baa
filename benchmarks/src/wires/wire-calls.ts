import { newWebSocketRpcSession } from 'capnweb';
import { type Client, connect } from 'parley-a2a/client';
import { createA2AServer } from 'parley-a2a/node';
import { capnwebTransport } from 'parley-a2a-capnweb';
import { grpcTransport } from 'parley-a2a-grpc';
import WebSocket from 'ws';
import { AGENTS } from '../subjects/parley-agents.js';
import { QUESTION, STREAM_EVENTS } from '../workloads.js';
import { RawGrpcConnection } from './raw-grpc.js';
import { WireRequests } from './wire-answers.js';
import type { WireCaller, WireWork } from './wire-rows.js';

/** Calls a server: one answer, checked. */
export type WireCall = () => Promise<void>;

/** Connections of the callers that open their own. */
const CONNECTIONS = 4;
const CAPNWEB = 'https://parley-a2a.dev/bindings/capnweb/v1';
const requests = new WireRequests();

/** The callers of this program. The other ones are loads of raw HTTP. */
export const WIRE_CALLS: {
  readonly [Name in Exclude<WireCaller, `raw-${'jsonrpc' | 'http-json'}`>]: (
    work: WireWork,
    port: number,
  ) => Promise<readonly WireCall[]>;
} = {
  'raw-grpc': async (work, port) => Array.from({ length: CONNECTIONS }, () => rawGrpc(work, port)),
  'raw-capnweb': (work, port) => Promise.all(Array.from({ length: CONNECTIONS }, () => rawCapnweb(work, port))),
  'client-jsonrpc': (work, port) => client(work, { url: `http://127.0.0.1:${port}/`, protocolBinding: 'JSONRPC' }),
  'client-http-json': (work, port) =>
    client(work, { url: `http://127.0.0.1:${port}/a2a/rest`, protocolBinding: 'HTTP+JSON' }),
  'client-grpc': (work, port) => client(work, { url: `127.0.0.1:${port}`, protocolBinding: 'GRPC' }),
  'client-capnweb': (work, port) =>
    client(work, { url: `ws://127.0.0.1:${port}/a2a/capnweb`, protocolBinding: CAPNWEB }),
  'client-in-process': async (work) => [callOf(work, await connect(createA2AServer({ agent: AGENTS[work] })))],
};

function rawGrpc(work: WireWork, port: number): WireCall {
  const method = work === 'call' ? 'SendMessage' : 'SendStreamingMessage';
  const connection = new RawGrpcConnection({ port, path: `/lf.a2a.v1.A2AService/${method}` });
  const next = requests.asBytes();
  const expected = work === 'call' ? 1 : STREAM_EVENTS;
  const check = work === 'call' ? (message: Buffer) => message.includes(QUESTION) : () => true;
  return async () => {
    const count = await connection.call(next(), check);
    if (count !== expected) throw new Error(`${count} messages`);
  };
}

interface RawAgent {
  authenticate(hello: object): RawAgent;
  sendMessage(request: object): { message?: { parts: { text: string }[] } };
  sendStreamingMessage(request: object): Promise<{ events: ReadableStream<unknown> } & Disposable>;
}

async function rawCapnweb(work: WireWork, port: number): Promise<WireCall> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/a2a/capnweb`);
  const entrance = newWebSocketRpcSession(socket as never) as unknown as RawAgent;
  const agent = (await entrance.authenticate({ parameters: { 'A2A-Version': '1.0' } })) as RawAgent;
  if (work === 'call')
    return async () => {
      const { message } = await agent.sendMessage(requests.next());
      if (message?.parts[0]?.text !== QUESTION) throw new Error('no message with the text sent');
    };
  return async () => {
    using feed = await agent.sendStreamingMessage(requests.next());
    await whole(feed.events);
  };
}

async function client(
  work: WireWork,
  place: { readonly url: string; readonly protocolBinding: string },
): Promise<readonly WireCall[]> {
  const card = {
    name: 'Wire',
    description: 'The server of a binding',
    version: '1.0.0',
    supportedInterfaces: [{ ...place, protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  return [callOf(work, await connect(card, { bindings: [grpcTransport(), capnwebTransport()] }))];
}

function callOf(work: WireWork, agent: Client): WireCall {
  if (work === 'stream') return () => whole(agent.sendStreamingMessage(requests.next()));
  return async () => {
    const answer = await agent.sendMessage(requests.next());
    const [part] = answer.message !== undefined ? answer.message.parts : [];
    if (part === undefined || part.text === undefined || part.text !== QUESTION)
      throw new Error('no message with the text sent');
  };
}

async function whole(events: AsyncIterable<unknown>): Promise<void> {
  let count = 0;
  for await (const _ of events) count += 1;
  if (count !== STREAM_EVENTS) throw new Error(`${count} events`);
}
