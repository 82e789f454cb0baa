import { createServer } from 'node:http';
import type { Client } from 'parley-a2a/client';
import { type AgentMcpServerOptions, mcpEndpointOf } from 'parley-a2a-mcp';
import type { Output } from '../output/output.js';
import { type ListenPlace, startPlainServer } from '../serve/listening.js';
import { nodeListener } from '../serve/web-exchange.js';

const PATH = '/mcp';

/** Options of `serveHttp`. */
interface ServeHttpOptions extends AgentMcpServerOptions {
  readonly place: ListenPlace;
  readonly output: Output;
}

/** Serves MCP over streamable HTTP, until a signal stops the server. */
export async function serveHttp(
  clients: readonly Client[],
  { place, output, ...options }: ServeHttpOptions,
): Promise<void> {
  const endpoint = mcpEndpointOf(clients, options);
  const server = createServer(
    nodeListener(async (request) => {
      const isEndpoint = new URL(request.url).pathname === PATH;
      return isEndpoint ? endpoint.handle(request) : new Response(null, { status: 404 });
    }),
  );
  const { url, stopped } = await startPlainServer(server, place);
  output.note(`MCP: ${url}${PATH}`);
  await stopped;
  await endpoint.close();
}
