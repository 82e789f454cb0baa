import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import express from 'express';
import { toExpress } from '../../packages/parley/src/exports/express.js';
import { type Authenticator, createAgentHandler } from '../../packages/parley/src/exports/server.js';
import { closeServer } from './authorization-server.js';
import type { Authority } from './certificates.js';

/** An agent behind TLS. */
export interface TlsAgent {
  readonly url: string;
  /** The names in the certificates of all connections. `undefined` for a connection without one. */
  readonly seen: (string | undefined)[];
  close(): Promise<void>;
}

/** Serves one that knows its callers by their certificates. `requires`: without one there is no connection. */
export async function startTlsAgent({
  authority,
  requires,
}: {
  readonly authority: Authority;
  readonly requires: boolean;
}): Promise<TlsAgent> {
  const app = express();
  const https = createServer(
    { ...authority.server(), ca: authority.ca, requestCert: true, rejectUnauthorized: requires },
    app,
  );
  const seen: (string | undefined)[] = [];
  https.on('secureConnection', (socket) => seen.push(nameOf(socket)));
  await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(https.address() as AddressInfo).port}`;
  app.use((request, _, next) => {
    request.headers['x-certificate'] = nameOf(request.socket as TLSSocket) ?? '';
    next();
  });
  const authenticator: Authenticator = {
    challenges: ['Certificate'],
    optional: !requires,
    securitySchemes: { certificate: { mtlsSecurityScheme: {} } },
    authenticate: async (credentials) => {
      const name = credentials.header('x-certificate');
      return name ? { kind: 'user', user: { id: `mtls|${name}`, name } } : { kind: 'anonymous' };
    },
  };
  const agent = createAgentHandler({
    url,
    authenticator,
    agent: async function* (_, { user }) {
      yield 'called by ';
      yield user?.name ?? 'nobody';
    },
  });
  app.use(toExpress(agent));
  return {
    url,
    seen,
    close: async () => {
      await agent.close({ graceMs: 0 });
      await closeServer(https);
    },
  };
}

function nameOf(socket: TLSSocket): string | undefined {
  const { subject } = socket.getPeerCertificate();
  return socket.authorized ? String(subject?.CN) : undefined;
}
