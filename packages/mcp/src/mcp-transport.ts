import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { limitedFetch, type McpFetch } from './limited-fetch.js';

/** An MCP server that runs as a child of this process and speaks on its standard input and output. */
export interface McpCommand {
  /** The program of the server. */
  readonly command: string;
  /** Its arguments. */
  readonly args?: readonly string[];
  /** Environment variables of the server. It inherits only HOME, LOGNAME, PATH, SHELL, TERM and USER. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder that it runs in. */
  readonly cwd?: string;
  /** Standard error of the server. Default: `ignore`. */
  readonly stderr?: 'ignore' | 'inherit';
}

/** An MCP server with streamable HTTP. */
export interface McpUrl {
  /** The endpoint of the server. */
  readonly url: string;
  /** Headers of each request, such as credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the url is untrusted. Then only public addresses are called. Default false. */
  readonly isForeign?: boolean;
  /** Sends all requests. Default: the `fetch` of the platform, guarded for untrusted urls. */
  readonly fetch?: McpFetch;
}

/** Maximum size of a message on standard output, or of an answer over HTTP, in bytes. */
export const MESSAGE_BYTES = 16 * 1024 * 1024;

/** Makes the transport to a server. Code for processes is loaded on demand, because not every host has them. */
export async function mcpTransport(server: McpCommand | McpUrl, send: McpFetch): Promise<Transport> {
  if ('url' in server) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { url, headers = {}, fetch = send } = server;
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: limitedFetch(fetch, MESSAGE_BYTES),
    });
    // One type of the SDK declares `sessionId` without `undefined`, and another one with it.
    return transport as Transport;
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const { command, args = [], env = {}, cwd, stderr = 'ignore' } = server;
  return new StdioClientTransport({
    command,
    args: [...args],
    env,
    stderr,
    maxBufferSize: MESSAGE_BYTES,
    ...(cwd !== undefined && { cwd }),
  });
}
