import type { Client } from 'parley-a2a/client';
import { type AgentMcpServerOptions, serveMcpStdio } from 'parley-a2a-mcp';
import { untilStopped } from '../serve/listening.js';

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
