import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpEndpoint, type McpEndpointOptions } from '../mcp/mcp-endpoint.js';
import { type McpServerOptions, mcpServer } from '../mcp/mcp-server.js';
import type { SkillAgent } from '../mcp/skill-call.js';
import { type Logger, silentLogger } from '../telemetry/logger.js';
import { callerIds, systemClock } from './runtime.js';

export { McpEndpoint, type McpEndpointOptions } from '../mcp/mcp-endpoint.js';
export type { McpServerOptions } from '../mcp/mcp-server.js';
export type { SkillAgent } from '../mcp/skill-call.js';
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
  agents: SkillAgent | readonly SkillAgent[],
  { logger = silentLogger, ...options }: AgentMcpServerOptions = {},
): Server {
  return mcpServer('card' in agents ? [agents] : agents, options, { clock: systemClock, logger });
}

/** Makes an endpoint of streamable HTTP whose tools are the skills of an agent, or of several. */
export function mcpEndpointOf(
  agents: SkillAgent | readonly SkillAgent[],
  options: AgentMcpServerOptions & McpEndpointOptions = {},
): McpEndpoint {
  const server = () => mcpServerOf(agents, options);
  return new McpEndpoint(options, { server, clock: systemClock, ids: callerIds });
}
