import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  type ElicitResult,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { JsonObject } from 'parley-a2a';
import { isObject, type TraceContext } from 'parley-a2a/kit';
import type { ToolAnswer } from 'parley-a2a/tools';
import { MOST_TOOLS } from './listed-tools.js';

/** A question of an MCP server to the user. */
export interface McpQuestion {
  readonly message: string;
  /** JSON Schema of the answer. Absent: the server asks to open a url. */
  readonly schema?: JsonObject;
}

/** Finds the call that code runs for, including callbacks. `AsyncLocalStorage` of Node.js is one. */
export interface CallScope<Call> {
  run<Result>(call: Call, task: () => Result): Result;
  getStore(): Call | undefined;
}

/** The parts of a connection to an MCP server. */
export interface McpConnectionOptions<Call> {
  /** Makes the transport: a new process, or a new session. */
  readonly transport: () => Promise<Transport>;
  /** The longest wait for a connection or a list, in ms. */
  readonly connectMs: number;
  /** Called when the server announces a change of its list. */
  readonly changed: () => void;
  /** Answers a question. `call`: the call on whose stream it arrived. Absent: the server may not ask. */
  readonly elicit: ((question: McpQuestion, call: Call | undefined) => Promise<ToolAnswer>) | undefined;
  /** Absent: the transport has one stream for all calls, or the host has no such scopes. */
  readonly scope: CallScope<Call> | undefined;
}

/** A call of a tool. */
interface McpToolCall<Call> {
  readonly call: Call;
  readonly name: string;
  readonly input: unknown;
  /** True if the server requires a task for the tool. */
  readonly needsTask: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The trace context of the call. Absent: none is passed on. */
  readonly trace?: TraceContext | undefined;
}

const PAGES = 20;
const SETTLE_MS = 2_000;
const CANCEL_MS = 5_000;
/** Accepts everything: untrusted schemas are checked elsewhere, with bounds. */
const NO_CHECK = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (data) => ({ valid: true, data: data as T, errorMessage: undefined }),
};

/** A connection to an MCP server. Connects on demand, and reconnects after the server has closed. */
export class McpConnection<Call> {
  readonly #options: McpConnectionOptions<Call>;
  #client: Promise<Client> | undefined;
  #wasConnected = false;
  #isClosed = false;

  constructor(options: McpConnectionOptions<Call>) {
    this.#options = options;
  }

  /** Reads the tools that the server lists. */
  async list(): Promise<readonly unknown[]> {
    const client = await this.#connectOnce();
    const tools: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES && tools.length < MOST_TOOLS; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const options = { timeout: this.#options.connectMs };
      // The list schema of the SDK would refuse all tools if one is wrong.
      const listed = await client.request({ method: 'tools/list', params }, ResultSchema, options);
      if (!Array.isArray(listed.tools)) throw new Error('The MCP server lists no tools');
      tools.push(...listed.tools);
      cursor = typeof listed.nextCursor === 'string' ? listed.nextCursor : undefined;
      if (cursor === undefined) break;
    }
    return tools;
  }

  /** Calls a tool. If the signal aborts, the server gets a cancellation. */
  async call(toolCall: McpToolCall<Call>): Promise<JsonObject> {
    const { scope } = this.#options;
    const { call } = toolCall;
    const send = (client: Client) => sendCall(client, toolCall);
    // The answer stream is read within the scope. Connecting stays outside, because its stream is that of all calls.
    const inScope = (client: Client) => (scope === undefined ? send(client) : scope.run(call, () => send(client)));
    const client = await this.#connectOnce();
    try {
      return (await inScope(client)) as JsonObject;
    } catch (error) {
      if (!isUnknownSession(error)) throw error;
      // The server has restarted and refused the call, which therefore did not run.
      await client.close();
      return (await inScope(await this.#connectOnce())) as JsonObject;
    }
  }

  /** Resolves when the server has read all messages so far, or after a time limit. */
  async settle(): Promise<void> {
    if (this.#isClosed) return;
    const client = await this.#client?.catch(() => undefined);
    await client?.ping({ timeout: SETTLE_MS }).catch(() => {});
  }

  /** Closes the connection permanently. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.end();
  }

  /** Closes the connection, and stops the server process if this connection started it. The next call reconnects. */
  async end(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
  }

  #connectOnce(): Promise<Client> {
    if (this.#isClosed) throw new Error('The connection to the MCP server is closed');
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { transport, connectMs, changed, elicit, scope } = this.#options;
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
        const { action, content = {} } = await elicit(asked, scope?.getStore());
        if (action !== 'accept') return { action };
        return { action, content: content as NonNullable<ElicitResult['content']> };
      });
    try {
      await client.connect(await transport(), { timeout: connectMs });
      // A new process may have other tools.
      if (this.#wasConnected) changed();
      this.#wasConnected = true;
      return client;
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }
}

async function sendCall(client: Client, call: McpToolCall<unknown>): Promise<CallToolResult> {
  const { name, input, needsTask, signal, timeoutMs, trace } = call;
  const options = { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs };
  const params = { name, arguments: input as Record<string, unknown>, ...(trace && { _meta: { ...trace } }) };
  const request = { method: 'tools/call', params } as const;
  // By the protocol, a server without the capability accepts plain calls, even of such a tool.
  const isTask = needsTask && client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
  if (!isTask) return client.request(request, CallToolResultSchema, options);
  const { task } = await client.request(request, CreateTaskResultSchema, { ...options, task: { ttl: 2 * timeoutMs } });
  const { taskId } = task;
  try {
    // The server answers when the task has ended. Until then its questions arrive on the stream of this request.
    return await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema, options);
  } catch (error) {
    // Nothing reads the task of an ended call. A task that has ended itself cannot be canceled.
    await client.experimental.tasks.cancelTask(taskId, { timeout: CANCEL_MS }).catch(() => {});
    throw error;
  }
}

function isUnknownSession(error: unknown): boolean {
  return error instanceof StreamableHTTPError && error.code === 404;
}
