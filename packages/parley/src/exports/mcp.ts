import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Client } from '../client/client.js';
import type { McpFetch } from '../mcp/limited-fetch.js';
import { McpEndpoint, type McpEndpointOptions } from '../mcp/mcp-endpoint.js';
import { type McpServerOptions, mcpServer } from '../mcp/mcp-server.js';
import { McpTools, type McpToolsOptions } from '../mcp/mcp-tools.js';
import { type McpCommand, type McpUrl, MESSAGE_BYTES, mcpTransport } from '../mcp/mcp-transport.js';
import { type Logger, silentLogger } from '../telemetry/logger.js';
import { callerIds, systemClock } from './runtime.js';

export type { McpFetch } from '../mcp/limited-fetch.js';
export type { McpQuestion } from '../mcp/mcp-connection.js';
export { McpEndpoint, type McpEndpointOptions } from '../mcp/mcp-endpoint.js';
export type { McpServerOptions } from '../mcp/mcp-server.js';
export { McpQuestionError, McpTools, type McpToolsOptions } from '../mcp/mcp-tools.js';
export type { McpCommand, McpUrl } from '../mcp/mcp-transport.js';
export { CONTEXT_ID_META, TASK_ID_META } from '../mcp/task-result.js';

/** Options of `mcpServerOf`. */
export interface AgentMcpServerOptions extends McpServerOptions {
  /** Default: no log. */
  readonly logger?: Logger;
}

/**
 * Makes an MCP server of the official SDK for one connection. Its tools are the skills of an agent, or of several.
 * Pass it a transport by `connect`.
 */
export function mcpServerOf(
  agents: Client | readonly Client[],
  { logger = silentLogger, ...options }: AgentMcpServerOptions = {},
): Server {
  return mcpServer('card' in agents ? [agents] : agents, options, { clock: systemClock, logger });
}

/** Makes an endpoint of streamable HTTP whose tools are the skills of an agent, or of several. */
export function mcpEndpointOf(
  agents: Client | readonly Client[],
  options: AgentMcpServerOptions & McpEndpointOptions = {},
): McpEndpoint {
  const server = () => mcpServerOf(agents, options);
  return new McpEndpoint(options, { server, clock: systemClock, ids: callerIds });
}

/** Options of `mcpTools`: the server, and the use of its tools. */
export type McpServerToolsOptions = McpToolsOptions & (McpCommand | McpUrl) & { readonly logger?: Logger };

/**
 * Connects to an MCP server and makes its tools tools of an agent. Close the result at the end.
 * @throws OptionsError if an option is wrong. Rejects if the server does not start or does not answer.
 */
export async function mcpTools({ logger = silentLogger, ...options }: McpServerToolsOptions): Promise<McpTools> {
  const send = 'url' in options && options.isForeign === true ? await foreignFetch() : plainFetch;
  const tools = new McpTools(options, { transport: () => mcpTransport(options, send), logger });
  try {
    await tools.refresh();
    return tools;
  } catch (error) {
    await tools.close();
    throw error;
  }
}

const plainFetch: McpFetch = (url, init) => fetch(url, init);

/** Calls public addresses only. A stream of the server has no end, so it has no time limit either. */
async function foreignFetch(): Promise<McpFetch> {
  const { guardedFetch } = await import('./guarded-fetch.js');
  const guarded = guardedFetch({ bytes: MESSAGE_BYTES, ms: Number.POSITIVE_INFINITY });
  return (url, init = {}) => guarded(String(url), init);
}
