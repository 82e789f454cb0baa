import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-js-sdk-0.3/server';
import { A2AExpressApp } from 'a2a-js-sdk-0.3/server/express';
import express from 'express';
import { type A2AServerOptions, createA2AHost, createA2AServer } from 'parley-a2a/node';
import type { Authenticator } from 'parley-a2a/server';
import { grpcBinding } from 'parley-a2a-grpc';
import { storyteller } from './agents.js';
import type { Steps } from './steps.js';

/** An agent that is not of the console's server. */
export interface ForeignAgent {
  readonly url: string;
  close(): Promise<unknown>;
}

async function listenOn(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serveListener(listener: RequestListener): Promise<ForeignAgent> {
  const server = createServer(listener);
  const url = await listenOn(server);
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, close };
}

const oldExecutor: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = (state: 'submitted' | 'working' | 'completed') => ({ state, timestamp: new Date().toISOString() });
    bus.publish({ kind: 'task', id: taskId, contextId, status: status('submitted'), history: [userMessage] });
    bus.publish({ kind: 'status-update', taskId, contextId, status: status('working'), final: false });
    const text = userMessage.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    const artifact = { artifactId: 'a', name: 'old', parts: [{ kind: 'text' as const, text: `Old answer: ${text}` }] };
    bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, lastChunk: true });
    bus.publish({ kind: 'status-update', taskId, contextId, status: status('completed'), final: true });
    bus.finished();
  },
  async cancelTask() {},
};

/** An agent of the official JavaScript SDK of 0.3, which allows no call by pages of other origins. */
export async function oldAgent(): Promise<ForeignAgent> {
  const app = express();
  const agent = await serveListener(app);
  const card = {
    name: 'Old agent',
    description: 'Speaks 0.3 only.',
    version: '0.9.0',
    protocolVersion: '0.3.0',
    url: `${agent.url}/`,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'old', name: 'Answer', description: 'Answers as in 0.3.', tags: [], examples: ['Hello'] }],
  };
  new A2AExpressApp(new DefaultRequestHandler(card, new InMemoryTaskStore(), oldExecutor)).setupRoutes(app);
  return agent;
}

/** An agent whose card is here. Its calls go to another machine, which does not exist. */
export async function distantAgent(): Promise<ForeignAgent> {
  const { agentCard } = createA2AServer({
    name: 'Distant',
    description: 'Is not here.',
    agent: (text: string) => text,
    url: 'https://agents.invalid',
    logRequests: false,
  });
  return serveListener((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(agentCard));
  });
}

/** An agent that only gRPC reaches. Its card is on a server of its own. */
export async function grpcAgent(): Promise<ForeignAgent> {
  const server = createA2AServer({
    name: 'Remote procedures',
    description: 'Speaks gRPC only.',
    agent: (text: string) => `Over gRPC: ${text}`,
    bindings: [grpcBinding({ port: 0, listed: 'public' })],
    logRequests: false,
    push: false,
  });
  await server.listen(0);
  const supportedInterfaces = server.agentCard.supportedInterfaces.filter((one) => one.protocolBinding === 'GRPC');
  const card = await serveListener((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...server.agentCard, supportedInterfaces, flavour: 'sweet' }));
  });
  const close = async () => {
    await card.close();
    await server.close({ graceMs: 0 });
  };
  return { url: card.url, close };
}

/** A catalog of agents by name. The card of an agent that is `false` is not served. */
export async function catalogOf(names: Readonly<Record<string, boolean>>): Promise<ForeignAgent> {
  const agents = Object.keys(names).map((name) => [`/${name}`, { name, agent: () => `I am ${name}` }] as const);
  const host = createA2AHost({ agents: Object.fromEntries(agents), logRequests: false, push: false });
  const { url: hosted } = await host.listen(0);
  const type = 'application/a2a-agent-card+json';
  const catalog = await serveListener((request, response) => {
    const isCatalog = request.url === '/.well-known/ai-catalog.json';
    response.writeHead(isCatalog ? 200 : request.url === '/broken' ? 503 : 404, { 'content-type': 'application/json' });
    const entries = Object.entries(names).map(([identifier, isServed]) => {
      const path = `${hosted}/${identifier}/.well-known/agent-card.json`;
      return { identifier, type, url: isServed ? path : '/broken' };
    });
    response.end(JSON.stringify(isCatalog ? { specVersion: '1.0', entries } : {}));
  });
  const close = async () => {
    await catalog.close();
    await host.close({ graceMs: 0 });
  };
  return { url: catalog.url, close };
}

/** An agent that asks for a credential, and tells the name of its caller. */
export async function protectedAgent(authenticator: Authenticator): Promise<ForeignAgent> {
  const server = createA2AServer({
    name: 'Vault',
    description: 'Opens for callers with a key.',
    authenticator,
    extendedAgentCard: (card) => ({ ...card, description: 'Opens twice.' }),
    agent: { execute: async ({ user }, events) => void events.message(`Open for ${user?.name ?? user?.id}`) },
    logRequests: false,
    push: false,
  });
  const { url } = await server.listen(0);
  return { url, close: () => server.close({ graceMs: 0 }) };
}

/** A storyteller that sends push notifications. */
export async function startPushingAgent(steps: Steps, push: NonNullable<A2AServerOptions['push']>) {
  const server = createA2AServer({ ...storyteller(steps), push, logRequests: false });
  const { url } = await server.listen(0);
  return { url, [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }) };
}
