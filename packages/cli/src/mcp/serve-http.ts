import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Client } from 'parley-a2a/client';
import { type AgentMcpServerOptions, type McpEndpoint, mcpEndpointOf } from 'parley-a2a-mcp';
import type { Output } from '../output/output.js';
import { type ListenPlace, started } from '../serve/listening.js';

const PATH = '/mcp';

/** Options of `serveHttp`. */
export interface ServeHttpOptions extends AgentMcpServerOptions {
  readonly place: ListenPlace;
  readonly output: Output;
}

/** Serves MCP over streamable HTTP, until a signal stops the server. */
export async function serveHttp(
  clients: readonly Client[],
  { place, output, ...options }: ServeHttpOptions,
): Promise<void> {
  const endpoint = mcpEndpointOf(clients, options);
  const server = createServer((request, response) => {
    answer(endpoint, request, response).catch(() => {
      // The error may hold an address or a text of the agent, so it stays here.
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  const { url, stopped } = await started(server, place);
  output.note(`MCP: ${url}${PATH}`);
  await stopped;
  await endpoint.close();
}

async function answer(endpoint: McpEndpoint, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers, url } = request;
  if (url?.split('?')[0] !== PATH) {
    response.writeHead(404).end();
    return;
  }
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const given: [string, string][] = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const answered = await endpoint.handle(
    new Request(`http://localhost${PATH}`, {
      method,
      headers: given,
      ...(hasBody && { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: 'half' }),
    } as RequestInit),
  );
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  if (answered.body === null) response.end();
  else {
    response.flushHeaders();
    await pipeline(Readable.fromWeb(answered.body as ReadableStream), response);
  }
}
