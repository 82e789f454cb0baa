import type { Client } from 'parley-a2a/client';
import { type AgentMcpServerOptions, mcpEndpointOf, serveMcpStdio } from 'parley-a2a-mcp';
import type { Output } from '../output/output.js';
import { type ListenPlace, startPlainServer, untilStopped } from '../serve/listening.js';
import { nodeListener } from '../serve/web-exchange.js';

const PATH = '/mcp';

/** Serves MCP on standard input and output. Resolves when the client closes its end, or a signal stops the server. */
export async function serveStdio(clients: readonly Client[], options: AgentMcpServerOptions): Promise<void> {
  const ended = new Promise<void>((resolve) => process.stdin.once('end', () => resolve()));
  const server = await serveMcpStdio(clients, options);
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  const stopped = untilStopped({ close: () => server.close() });
  void ended.then(() => server.close());
  await Promise.race([closed, stopped]);
}

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
  const listener = nodeListener(async (request) => {
    const isEndpoint = new URL(request.url).pathname === PATH;
    return isEndpoint ? endpoint.handle(request) : new Response(null, { status: 404 });
  });
  const { url, stopped } = await startPlainServer(listener, place);
  output.note(`MCP: ${url}${PATH}`);
  await stopped;
  await endpoint.close();
}
