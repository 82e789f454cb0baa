// An MCP server of the official SDK on standard input and output.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { toolsServer } from './tools-server-tools.mjs';

await toolsServer(Server).connect(new StdioServerTransport());
