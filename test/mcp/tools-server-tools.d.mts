import type { Server } from '@modelcontextprotocol/sdk/server/index.js';

/** An MCP server with tools for every case. */
export function toolsServer(make: typeof Server): Server;
