import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Logger } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import {
  callerIds,
  checkOptions,
  eitherOf,
  flag,
  func,
  mapOf,
  type OptionSchemas,
  OptionsError,
  optionObject,
  pendingOptions,
  positive,
  refuseArgument,
  silentLogger,
  systemClock,
  Type,
  text,
  texts,
  withMethod,
} from 'parley-a2a/kit';
import type { McpFetch } from './limited-fetch.js';
import type { CallScope } from './mcp-connection.js';
import { McpEndpoint, type McpEndpointOptions, mcpEndpointSchemas } from './mcp-endpoint.js';
import { type McpServerOptions, mcpServer, mcpServerSchemas } from './mcp-server.js';
import { type AskedCall, McpTools, type McpToolsOptions } from './mcp-tools.js';
import { type McpCommand, type McpUrl, MESSAGE_BYTES, mcpTransport } from './mcp-transport.js';

export type { McpFetch } from './limited-fetch.js';
export type { McpQuestion } from './mcp-connection.js';
export { McpEndpoint, type McpEndpointOptions } from './mcp-endpoint.js';
export type { McpServerOptions } from './mcp-server.js';
export { McpQuestionError, McpTools, type McpToolsOptions } from './mcp-tools.js';
export type { McpCommand, McpUrl } from './mcp-transport.js';
export { CONTEXT_ID_META, TASK_ID_META } from './task-result.js';

/** Options of `mcpServerOf`. */
export interface AgentMcpServerOptions extends McpServerOptions {
  /** Default: no log. */
  readonly logger?: Logger;
}

const serverSchemas: OptionSchemas<AgentMcpServerOptions> = {
  ...mcpServerSchemas,
  logger: Type.Optional(withMethod('error')),
};

/**
 * Makes an MCP server of the official SDK for one connection. Its tools are the skills of one or more agents. Connect a
 * transport with `connect`.
 * @throws OptionsError if an agent is a promise, such as that of `connect`.
 */
export function mcpServerOf(agents: Client | readonly Client[], given: AgentMcpServerOptions = {}): Server {
  const checked = checkOptions({ subject: 'mcpServerOf', schema: optionObject(serverSchemas), options: given });
  return serverOf(clientsOf('mcpServerOf', agents), checked);
}

/**
 * Serves the skills of one or more agents on standard input and output of this process. Resolves to the server of the
 * official SDK, once it listens.
 * @throws OptionsError if an agent is a promise, such as that of `connect`.
 */
export async function serveMcpStdio(
  agents: Client | readonly Client[],
  options: AgentMcpServerOptions = {},
): Promise<Server> {
  const server = mcpServerOf(agents, options);
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  await server.connect(new StdioServerTransport());
  return server;
}

function serverOf(clients: readonly Client[], { logger = silentLogger, ...options }: AgentMcpServerOptions): Server {
  return mcpServer(clients, options, { clock: systemClock, ids: callerIds, logger });
}

/**
 * Makes an endpoint of streamable HTTP whose tools are the skills of one or more agents.
 * @throws OptionsError if an agent is a promise, such as that of `connect`.
 */
export function mcpEndpointOf(
  agents: Client | readonly Client[],
  options: AgentMcpServerOptions & McpEndpointOptions = {},
): McpEndpoint {
  const schema = optionObject({ ...serverSchemas, ...mcpEndpointSchemas });
  checkOptions({ subject: 'mcpEndpointOf', schema, options });
  const clients = clientsOf('mcpEndpointOf', agents);
  const server = () => serverOf(clients, options);
  return new McpEndpoint(options, { server, clock: systemClock, ids: callerIds });
}

function clientsOf(subject: string, agents: Client | readonly Client[]): readonly Client[] {
  if (!Array.isArray(agents) && Object(agents).card === undefined && !(agents instanceof Promise))
    refuseArgument(subject, 'a client of connect(), or a list of them', agents);
  const clients = Array.isArray(agents) ? agents : [agents];
  if ([clients].flat().some((one: unknown) => one instanceof Promise)) throw pendingOptions(subject, { agents });
  return clients;
}

/** Options of `mcpTools`: the server, and the use of its tools. */
type McpServerToolsOptions = McpToolsOptions & (McpCommand | McpUrl) & { readonly logger?: Logger };

const toolSchemas: OptionSchemas<McpToolsOptions & { readonly logger?: Logger }> = {
  name: text,
  only: Type.Optional(texts),
  timeoutMs: Type.Optional(positive),
  connectMs: Type.Optional(positive),
  needsApproval: Type.Optional(func),
  idempotent: Type.Optional(func),
  elicit: Type.Optional(eitherOf([Type.Literal(false), func], 'must be a function or false')),
  onChange: Type.Optional(func),
  logger: Type.Optional(withMethod('error')),
};
const commands: OptionSchemas<McpCommand> = {
  command: text,
  args: Type.Optional(texts),
  env: Type.Optional(mapOf(text)),
  cwd: Type.Optional(text),
  stderr: Type.Optional(Type.String({ enum: ['ignore', 'inherit'] })),
};
const urls: OptionSchemas<McpUrl> = {
  url: text,
  headers: Type.Optional(mapOf(text)),
  isForeign: Type.Optional(flag),
  fetch: Type.Optional(func),
};
const commandSchema = optionObject({ ...toolSchemas, ...commands });
const urlSchema = optionObject({ ...toolSchemas, ...urls });

/**
 * Connects to an MCP server and makes its tools available to an agent. Close the result at the end. If a url cannot be
 * reached, the list is empty at first. The connection is then retried with growing pauses of 1 s to 60 s, until
 * `close`.
 * @throws OptionsError if an option is wrong. Rejects if a command does not start, or if a url refuses the client.
 */
export async function mcpTools(given: McpServerToolsOptions): Promise<McpTools> {
  if (Object(given) !== given) refuseArgument('mcpTools', 'a command or a url in an object', given);
  const { logger = silentLogger, ...options } = given;
  if ('command' in options === 'url' in options)
    throw new OptionsError('mcpTools', ['needs either a command or a url']);
  checkOptions({ subject: 'mcpTools', schema: 'url' in options ? urlSchema : commandSchema, options: given });
  const send = 'url' in options && options.isForeign === true ? await foreignFetch() : plainFetch;
  // Over HTTP each call has its own stream. Standard output is one stream for all calls.
  const scope = 'url' in options ? await callScope() : undefined;
  const transport = () => mcpTransport(options, send);
  const tools = new McpTools(options, { transport, scope, clock: systemClock, logger });
  try {
    if ('url' in options) await tools.start();
    else await tools.refresh();
    return tools;
  } catch (error) {
    await tools.close();
    throw error;
  }
}

/** Undefined on hosts without `AsyncLocalStorage`. */
async function callScope(): Promise<CallScope<AskedCall> | undefined> {
  try {
    const { AsyncLocalStorage } = await import('node:async_hooks');
    return new AsyncLocalStorage<AskedCall>();
  } catch {
    return undefined;
  }
}

const plainFetch: McpFetch = (url, init) => fetch(url, init);

/** Calls public addresses only. A stream has no end, so it has no time limit. */
async function foreignFetch(): Promise<McpFetch> {
  const { guardedFetch } = await import('parley-a2a');
  const guarded = guardedFetch({ bytes: MESSAGE_BYTES, ms: Number.POSITIVE_INFINITY });
  return (url, init = {}) => guarded(String(url), init);
}
