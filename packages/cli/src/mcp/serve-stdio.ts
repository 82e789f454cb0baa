import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Client } from 'parley-a2a/client';
import { type AgentMcpServerOptions, mcpServerOf } from 'parley-a2a/mcp';
import { untilStopped } from '../serve/listening.js';

/** Serves MCP on standard input and output. Resolves when the client closes its end, or a signal stops the server. */
export async function serveStdio(clients: readonly Client[], options: AgentMcpServerOptions): Promise<void> {
  const server = mcpServerOf(clients, options);
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  const stopped = untilStopped({ close: () => server.close() });
  process.stdin.once('end', () => void server.close());
  await server.connect(new StdioServerTransport());
  await Promise.race([closed, stopped]);
}
