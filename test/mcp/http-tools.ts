import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { toolsServer } from './tools-server-tools.mjs';

/** The server of `toolsServer` over streamable HTTP. `forget` drops its sessions, like a restart. */
export class HttpTools implements AsyncDisposable {
  readonly #sessions = new Map<string, StreamableHTTPServerTransport>();
  readonly #server = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.#sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      response.writeHead(404).end();
      return;
    }
    await (known ?? (await this.#begun())).handleRequest(request, response);
  });

  static async start(port = 0): Promise<HttpTools> {
    const tools = new HttpTools();
    tools.#server.listen(port, '127.0.0.1');
    await once(tools.#server, 'listening');
    return tools;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  forget(): void {
    this.#sessions.clear();
  }

  async #begun(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
    });
    await toolsServer(Server).connect(transport as Transport);
    return transport;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
