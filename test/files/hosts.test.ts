import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express, { type Express } from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, expect, it } from 'vitest';
import { toExpress } from '../../packages/parley/src/exports/express.js';
import { toFastify } from '../../packages/parley/src/exports/fastify.js';
import { directoryFileStore, fileTransfer } from '../../packages/parley/src/exports/files.js';
import { toHono } from '../../packages/parley/src/exports/hono.js';
import { type AgentHandler, createAgentHandler, toFetch } from '../../packages/parley/src/exports/server.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A request to a host, below its agent. */
interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type Host = (ask: Ask) => Promise<Answered>;

const PREFIX = '/agents/a';
const content = randomBytes(3_000_000);

function handler(): AgentHandler {
  const folder = mkdtempSync(join(tmpdir(), 'parley-hosts-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const files = fileTransfer({ store: directoryFileStore({ path: folder }) });
  const made = createAgentHandler({ agent: async () => 'done', files, url: `http://agents.example${PREFIX}` });
  closers.push(() => made.close());
  return made;
}

/** Asks a server of HTTP/1.1. */
function overHttp(base: string): Host {
  return async ({ method, path, headers = {}, body }) => {
    const answer = await fetch(`${base}${PREFIX}${path}`, { method, headers, ...(body && { body }) });
    return readAnswer(answer);
  };
}

async function readAnswer(answer: Response): Promise<Answered> {
  const headers = Object.fromEntries(answer.headers);
  return { status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) };
}

async function expressHost(use: (app: Express) => void): Promise<Host> {
  const app = express();
  use(app);
  app.use(PREFIX, toExpress(handler()));
  const server = app.listen(0, '127.0.0.1');
  closers.push(() => server.close());
  await once(server, 'listening');
  return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

async function fastifyOverHttp2(): Promise<Host> {
  const app = Fastify({ http2: true });
  app.register(toFastify(handler()), { prefix: PREFIX });
  closers.push(() => app.close());
  const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }));
  closers.push(() => session.destroy());
  return async ({ method, path, headers = {}, body }) => {
    const request = session.request({ ...headers, ':method': method, ':path': `${PREFIX}${path}` });
    request.end(body);
    const [head] = (await once(request, 'response')) as [IncomingHttpHeaders];
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { ':status': status, ...rest } = head;
    return { status: Number(status), headers: rest as Record<string, string>, body: Buffer.concat(chunks) };
  };
}

async function fastifyHost(): Promise<Host> {
  const app = Fastify();
  app.register(toFastify(handler()), { prefix: PREFIX });
  closers.push(() => app.close());
  return overHttp(await app.listen({ port: 0, host: '127.0.0.1' }));
}

function webHost(serve: (request: Request) => Response | Promise<Response>): Host {
  return async ({ method, path, headers = {}, body }) =>
    readAnswer(
      await serve(new Request(`http://agents.example${PREFIX}${path}`, { method, headers, ...(body && { body }) })),
    );
}

const HOSTS: Readonly<Record<string, () => Host | Promise<Host>>> = {
  Express: () => expressHost(() => {}),
  'Express behind a parser of other types': () => expressHost((app) => app.use(express.json(), express.text())),
  'Express behind a parser of bytes': () => expressHost((app) => app.use(express.raw({ type: '*/*', limit: '8mb' }))),
  Fastify: fastifyHost,
  'Fastify over HTTP/2': fastifyOverHttp2,
  'a web handler': () => {
    const fetchHandler = toFetch(handler().exchange);
    return webHost((request) => fetchHandler(new Request(request.url.replace(PREFIX, ''), request)));
  },
  Hono: () => {
    const app = new Hono();
    app.use(`${PREFIX}/*`, toHono(handler()));
    return webHost((request) => app.fetch(request));
  },
};

it.each(Object.keys(HOSTS))('files go up and down on %s, in one request and in several', async (name) => {
  const host = (await HOSTS[name]?.()) as Host;
  const type = { 'content-type': 'application/x-thing' };
  const up = await host({ method: 'POST', path: '/a2a/files', headers: type, body: content });
  const told = JSON.parse(String(up.body));
  const digest = `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
  expect([up.status, told]).toEqual([201, expect.objectContaining({ size: content.length, digest })]);
  const path = `/a2a/files/${told.id}`;
  const down = await host({ method: 'GET', path });
  expect(down.headers).toMatchObject({ 'content-type': 'application/x-thing', 'repr-digest': digest });
  expect(down.body.equals(content)).toBe(true);
  const range = await host({ method: 'GET', path, headers: { range: 'bytes=1000000-2000000' } });
  expect([range.status, range.body.equals(content.subarray(1_000_000, 2_000_001))]).toEqual([206, true]);

  const begun = await host({
    method: 'POST',
    path: '/a2a/files',
    headers: { 'upload-length': String(content.length) },
  });
  expect(begun.status).toBe(201);
  const upload = `/a2a/files/${begun.headers.location?.slice(-32)}`;
  for (const [start, end] of [
    [0, 1_000_000],
    [1_000_000, content.length],
  ] as const) {
    const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(start) };
    const appended = await host({ method: 'PATCH', path: upload, headers, body: content.subarray(start, end) });
    expect(appended.headers['upload-offset']).toBe(String(end));
  }
  expect((await host({ method: 'GET', path: upload })).body.equals(content)).toBe(true);
});

it('Express behind a parser that changes the bytes says what to do', async () => {
  const host = await expressHost((app) => app.use(express.json()));
  const headers = { 'content-type': 'application/json' };
  const answer = await host({ method: 'POST', path: '/a2a/files', headers, body: Buffer.from('{ "a": 1 }') });
  expect([answer.status, String(answer.body)]).toEqual([
    501,
    expect.stringContaining('Mount the agent before the body parsers'),
  ]);
});

it('Express behind a parser that takes less tells its limit', async () => {
  const host = await expressHost((app) => app.use(express.raw({ type: '*/*', limit: 1000 })));
  const answer = await host({
    method: 'POST',
    path: '/a2a/files',
    headers: { 'content-type': 'a/b' },
    body: content.subarray(0, 2000),
  });
  expect([answer.status, String(answer.body)]).toEqual([413, expect.stringContaining('1000 bytes')]);
});
