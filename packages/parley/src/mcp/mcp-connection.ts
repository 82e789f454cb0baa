import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  type ElicitResult,
  ListToolsResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { JsonObject } from '../model/json.js';
import { isObject } from '../model/json.js';
import type { ToolAnswer } from '../tools/tool.js';
import { MOST_TOOLS } from './listed-tools.js';

/** A question of an MCP server to the user. */
export interface McpQuestion {
  readonly message: string;
  /** JSON Schema of the answer. Absent: the server asks to open a url. */
  readonly schema?: JsonObject;
}

/** The parts of a connection to an MCP server. */
export interface McpConnectionOptions {
  /** Makes the transport: a new process, or a new session. */
  readonly transport: () => Promise<Transport>;
  /** The longest wait for a connection or a list, in ms. */
  readonly connectMs: number;
  /** Called when the server says that its list has changed. */
  readonly changed: () => void;
  /** Answers a question. Absent: the server may not ask. */
  readonly elicit: ((question: McpQuestion) => Promise<ToolAnswer>) | undefined;
}

/** A call of a tool. */
export interface McpToolCall {
  readonly name: string;
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

const PAGES = 20;
const SETTLE_MS = 2_000;
/** Checks nothing: the schemas of strangers are checked elsewhere, with bounds. */
const NO_CHECK = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (data) => ({ valid: true, data: data as T, errorMessage: undefined }),
};

/** A connection to an MCP server. Connects when it is needed, and again after the server has gone. */
export class McpConnection {
  readonly #options: McpConnectionOptions;
  #client: Promise<Client> | undefined;
  #wasConnected = false;
  #isClosed = false;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
  }

  /** Reads the tools that the server lists. */
  async list(): Promise<readonly unknown[]> {
    const client = await this.#connected();
    const tools: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES && tools.length < MOST_TOOLS; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const options = { timeout: this.#options.connectMs };
      const listed = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, options);
      tools.push(...listed.tools);
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    return tools;
  }

  /** Calls a tool. If the signal aborts, the server gets a cancellation. */
  async call({ name, input, signal, timeoutMs }: McpToolCall): Promise<JsonObject> {
    const params = { name, arguments: input as Record<string, unknown> };
    const options = { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs };
    const call = (client: Client) => client.request({ method: 'tools/call', params }, CallToolResultSchema, options);
    const client = await this.#connected();
    try {
      return (await call(client)) as JsonObject;
    } catch (error) {
      if (!isUnknownSession(error)) throw error;
      // The server has restarted and refused the call, so it did not run.
      await client.close();
      return (await call(await this.#connected())) as JsonObject;
    }
  }

  /** Resolves when the server has read all messages so far, or after a while. */
  async settle(): Promise<void> {
    if (this.#isClosed) return;
    const client = await this.#client?.catch(() => undefined);
    await client?.ping({ timeout: SETTLE_MS }).catch(() => {});
  }

  /** Ends the connection, and the process of the server if this connection started it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
  }

  #connected(): Promise<Client> {
    if (this.#isClosed) throw new Error('The connection to the MCP server is closed');
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { transport, connectMs, changed, elicit } = this.#options;
    const client = new Client(
      { name: 'parley', version: '1.0.0' },
      { capabilities: elicit === undefined ? {} : { elicitation: { form: {} } }, jsonSchemaValidator: NO_CHECK },
    );
    client.onclose = () => {
      this.#client = undefined;
    };
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
    if (elicit !== undefined)
      client.setRequestHandler(ElicitRequestSchema, async ({ params }): Promise<ElicitResult> => {
        const { message } = params;
        const schema = 'requestedSchema' in params ? (params.requestedSchema as unknown) : undefined;
        const asked = { message, ...(isObject(schema) && { schema: schema as JsonObject }) };
        const { action, content = {} } = await elicit(asked);
        if (action !== 'accept') return { action };
        return { action, content: content as NonNullable<ElicitResult['content']> };
      });
    try {
      await client.connect(await transport(), { timeout: connectMs });
      // Another process may have other tools.
      if (this.#wasConnected) changed();
      this.#wasConnected = true;
      return client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }
}

function isUnknownSession(error: unknown): boolean {
  return error instanceof StreamableHTTPError && error.code === 404;
}
