import { once } from 'node:events';
import { request } from 'node:http';
import { BearerTokens } from 'parley-a2a/auth';
import { createA2AHost } from 'parley-a2a/node';
import { operatorApi } from 'parley-a2a/operator';
import { silentLogger } from '../../packages/parley/src/telemetry/logger.js';
import { RecordingHandler } from '../../packages/parley/test/recording-handler.js';

/** The token of a user whom all agents of the host know. */
export const TOKEN = 'right-token-0123456789';

/** A host with everything that a host can serve, and a credential for all of it. */
export function protectedHost() {
  const authenticator = new BearerTokens([{ token: TOKEN, subject: 'ada' }]);
  const agent = (prompt: string) => prompt;
  return createA2AHost({
    agents: {
      '/': { agent, versions: ['1.0', '0.3', '0.2.5'], extendedAgentCard: (card) => card },
      '/other': { agent, authenticator: new BearerTokens([{ token: TOKEN, subject: 'bob' }]) },
      '/own': { handler: new RecordingHandler() },
    },
    authenticator,
    baseServer: { agent: '/', cacheChanges: true, cors: '*' },
    openapi: true,
    operator: operatorApi({ token: 'token-of-a-launch-0123456789-0123456789' }),
    cors: ['https://page.example'],
    logger: silentLogger,
  });
}

/** One request, its headers as they stand on the wire: name, value, name, value. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: readonly string[];
  readonly body?: string | undefined;
}

/** An answer with its body as text. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request over a socket of its own. Repeated headers stay lines of their own. */
export async function sendRaw(url: string, { method, path, headers = [], body }: WireRequest): Promise<WireAnswer> {
  const { host, hostname, port } = new URL(url);
  const raw = [
    'host',
    host,
    ...headers,
    ...(body === undefined ? [] : ['content-length', `${Buffer.byteLength(body)}`]),
  ];
  const sent = request({ hostname, port, method, path, headers: raw, agent: false });
  sent.end(body);
  const [answer] = await once(sent, 'response');
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return { status: answer.statusCode, headers: answer.headers, text };
}
