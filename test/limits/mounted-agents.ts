import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { toExpress } from '../../packages/parley/src/adapters/express/to-express.js';
import { toFastify } from '../../packages/parley/src/adapters/fastify/to-fastify.js';
import { toFetch } from '../../packages/parley/src/adapters/fetch/to-fetch.js';
import { toHono } from '../../packages/parley/src/adapters/hono/to-hono.js';
import { type AgentHandler, systemClock } from '../../packages/parley/src/exports/server.js';

/** An agent that a framework serves. */
interface Mounted {
  readonly url: string;
  close(): unknown;
}

/** Serves an agent at the root of a framework. A reader that takes nothing for `stallMs` is dropped. */
type Mount = (handler: AgentHandler, stallMs: number) => Promise<Mounted>;

/** The adapters of the library, each in a real server. */
export const MOUNTS = {
  Express: async (handler, stallMs) => {
    const server = createServer(express().use(toExpress({ ...handler, clock: systemClock, stallMs }))).listen(
      0,
      '127.0.0.1',
    );
    return waitForListening(server);
  },
  Fastify: async (handler, stallMs) => {
    const app = Fastify({ forceCloseConnections: true });
    app.register(toFastify({ ...handler, clock: systemClock, stallMs }));
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
  },
  Hono: (handler, stallMs) =>
    serveFetch(new Hono().use('/*', toHono({ ...handler, clock: systemClock, stallMs })).fetch),
  'a web handler': (handler, stallMs) => serveFetch(toFetch({ ...handler, clock: systemClock, stallMs })),
} satisfies Readonly<Record<string, Mount>>;

function serveFetch(answer: (request: Request) => Response | Promise<Response>): Promise<Mounted> {
  return waitForListening(serve({ fetch: answer, port: 0, hostname: '127.0.0.1' }));
}

async function waitForListening(server: ServerType): Promise<Mounted> {
  if (!server.listening) await once(server, 'listening');
  const close = () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
