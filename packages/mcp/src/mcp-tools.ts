import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject, JsonValue, Logger } from 'parley-a2a';
import { isObject, OptionsError, refusedAddressIn, tracingOf } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import { defineTool, type Tool, type ToolAnswer, type ToolContext, ToolError } from 'parley-a2a/tools';
import { AskedCalls } from './asked-calls.js';
import { shortenText } from './bounded-text.js';
import { callOutput } from './call-output.js';
import { ListFollower } from './list-follower.js';
import { type ListedTool, listedTools } from './listed-tools.js';
import { McpConnection, type McpConnectionOptions, type McpQuestion } from './mcp-connection.js';

/** Options of the tools of an MCP server. */
export interface McpToolsOptions {
  /** Prefix of the tool names, followed by `_`: 1 to 32 letters, digits, `_` and `-`. */
  readonly name: string;
  /** Names of tools in the server that the agent gets. Default: all. */
  readonly only?: readonly string[];
  /** Time limit of a call, in ms; default 60 000. */
  readonly timeoutMs?: number;
  /** Time limit for a connection or a list, in ms; default 30 000. */
  readonly connectMs?: number;
  /**
   * True if a call of the tool needs an approval of the owner of the task. Gets the name in the server. Default: none.
   */
  readonly needsApproval?: (toolName: string) => boolean;
  /**
   * Returns whether the tool may run twice, by its name in the server. Such calls run again after a crash, and run
   * concurrently also on standard input and output. Default: none.
   */
  readonly idempotent?: (toolName: string) => boolean;
  /**
   * Answers a question of the server during a call. Undefined is no answer. Without one, `runTools` asks the owner of
   * the task, and a call outside of a task fails with a `McpQuestionError`. False: the server may not ask.
   * @see docs/mcp.md#questions-of-the-server
   */
  readonly elicit?:
    | false
    | ((question: McpQuestion, context: ToolContext) => JsonObject | undefined | Promise<JsonObject | undefined>);
  /** Called when the list of tools has changed, with the new ones. */
  readonly onChange?: (tools: readonly Tool[]) => void;
}

/** A call that needs an answer of the user. `message` is the question; an agent can ask by INPUT_REQUIRED. */
export class McpQuestionError extends ToolError {
  override readonly name = 'McpQuestionError';
  /** JSON Schema of the answer. */
  readonly schema: JsonObject | undefined;

  constructor({ message, schema }: McpQuestion) {
    super(message, 'refused');
    this.schema = schema;
  }
}

/** The ports of `McpTools`. */
interface McpToolsPorts extends Pick<McpConnectionOptions<AskedCall>, 'transport' | 'scope'> {
  readonly clock: Clock;
  readonly logger: Logger;
}

const TIMEOUT_MS = 60_000;
const CONNECT_MS = 30_000;
const CONNECTION_NAME = /^[\w-]{1,32}$/;
/** Names of tools in a line of the log. */
const MOST_NAMES = 10;
const QUESTION_LENGTH = 10_000;
const REASON_LENGTH = 200;
const NO_ANSWER: ToolAnswer = { action: 'cancel' };

/** Error codes of the client for calls without an answer of the server. */
const LOST: readonly number[] = [ErrorCode.RequestTimeout, ErrorCode.ConnectionClosed];

/** Maximum number of questions in one call, answered or dismissed, before the call is abandoned. */
const MOST_QUESTIONS = 100;

/** A call for which the server may ask a question. */
export interface AskedCall {
  readonly context: ToolContext;
  readonly stop: AbortController;
  questions: number;
  /** The reason why a question has no answer, with which the call fails. */
  error?: unknown;
}

/** A tool of the server, for a call. */
interface CalledTool {
  readonly name: string;
  readonly remoteName: string;
  readonly needsTask: boolean;
  readonly timeoutMs: number;
  readonly isIdempotent: boolean;
}

/** The tools of an MCP server as tools of an agent. Follows changes of their list. */
export class McpTools implements AsyncDisposable {
  readonly #options: McpToolsOptions;
  readonly #logger: Logger;
  readonly #connection: McpConnection<AskedCall>;
  /** True if questions of the server do not identify their calls. */
  readonly #isShared: boolean;
  #tools: readonly Tool[] = [];
  readonly #calls = new AskedCalls<AskedCall>(() => this.#connection.end());
  readonly #follower: ListFollower;
  readonly #clock: Clock;

  constructor(options: McpToolsOptions, { transport, scope, clock, logger }: McpToolsPorts) {
    if (typeof options.name !== 'string' || !CONNECTION_NAME.test(options.name))
      throw new OptionsError('mcpTools', ['name: must be 1 to 32 letters, digits, _ and -']);
    this.#options = options;
    this.#logger = logger;
    this.#clock = clock;
    this.#isShared = scope === undefined;
    this.#follower = new ListFollower({ read: () => this.#reread(), clock });
    this.#connection = new McpConnection({
      transport,
      scope,
      connectMs: options.connectMs ?? CONNECT_MS,
      changed: () => this.#follower.readAgain(),
      elicit: options.elicit === false ? undefined : (question, call) => this.#answer(question, call),
    });
  }

  /** The tools of the last list. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /**
   * Reads the list of tools for the first time. A server that cannot be reached is retried with growing pauses.
   * @throws if the server refuses permanently.
   */
  async start(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      if (!isPassing(error)) throw refusalOf(error, this.#options.name);
      this.#missing(error);
      this.#follower.readAgain();
    }
  }

  /** Reads the list of tools again. */
  async refresh(): Promise<readonly Tool[]> {
    const { name: connection, only } = this.#options;
    const leftOut: string[] = [];
    const listed = listedTools(await this.#connection.list(), {
      connection,
      leftOut: (name) => void leftOut.push(name),
    });
    const [names, count] = [leftOut.slice(0, MOST_NAMES).join(', '), leftOut.length];
    if (count > 0) this.#logger.warn('tools of an MCP server are left out', { connection, count, names });
    const wanted = only === undefined ? listed : listed.filter(({ remoteName }) => only.includes(remoteName));
    this.#tools = wanted.map((one) => this.#toolOf(one));
    return this.#tools;
  }

  /** Closes the connection, and stops the server process. */
  async close(): Promise<void> {
    this.#follower.close();
    await this.#clock.hold(this.#connection.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #reread(): Promise<void> {
    const { name: connection, onChange } = this.#options;
    try {
      const tools = await this.refresh();
      this.#logger.info('the tools of an MCP server were read', { connection, count: tools.length });
      onChange?.(tools);
    } catch (error) {
      if (!isPassing(error)) {
        this.#logger.warn('the tools of an MCP server could not be read', { connection, error });
        return;
      }
      this.#missing(error);
      this.#follower.readAgain();
    }
  }

  #missing(error: unknown): void {
    const connection = this.#options.name;
    const text = 'an MCP server cannot be reached: its tools are missing until it can be';
    this.#logger.warn(text, { connection, reason: reasonOf(error) });
  }

  #toolOf({ name, remoteName, description, input, output, needsTask }: ListedTool): Tool {
    const { timeoutMs = TIMEOUT_MS, needsApproval, idempotent } = this.#options;
    const isIdempotent = idempotent?.(remoteName) ?? false;
    return defineTool({
      name,
      description,
      input,
      ...(output !== undefined && { output }),
      timeoutMs,
      idempotent: isIdempotent,
      ...(needsApproval !== undefined && { needsApproval: needsApproval(remoteName) }),
      run: (value, context) => this.#call({ name, remoteName, needsTask, timeoutMs, isIdempotent }, value, context),
    });
  }

  async #call(
    { name, remoteName, needsTask, timeoutMs, isIdempotent }: CalledTool,
    input: unknown,
    context: ToolContext,
  ): Promise<JsonValue> {
    const stop = new AbortController();
    const signal = AbortSignal.any([context.signal, stop.signal]);
    const asked: AskedCall = { context, stop, questions: 0 };
    const trace = tracingOf(context)?.active();
    try {
      const result = await this.#calls.run(asked, {
        signal,
        perform: () =>
          this.#connection.call({ call: asked, name: remoteName, input, needsTask, signal, timeoutMs, trace }),
        settle: () => this.#connection.settle(),
        isAnswer: (error) => error instanceof McpError && !LOST.includes(error.code),
        isLeft: (error) => signal.aborted || isTimeout(error),
        isAlone: this.#isShared && !isIdempotent && this.#mayAnswer(context),
        isIdempotent,
      });
      if (asked.error === undefined) return callOutput(result, name);
    } catch (error) {
      if (asked.error === undefined) throw error instanceof ToolError ? error : failureOf(error, name);
    }
    throw asked.error;
  }

  /** True if a question of the server during the call can have an answer. */
  #mayAnswer({ ask }: ToolContext): boolean {
    const { elicit } = this.#options;
    return elicit !== false && (elicit ?? ask) !== undefined;
  }

  /** A question without an answer is dismissed, and its call fails. */
  async #answer({ message, ...question }: McpQuestion, own: AskedCall | undefined): Promise<ToolAnswer> {
    const call = own ?? (await this.#calls.callOfQuestion());
    if (call === undefined || !this.#calls.isRunning(call)) return NO_ANSWER;
    call.questions += 1;
    if (call.questions > MOST_QUESTIONS) {
      call.error ??= new ToolError(`The server asked more than ${MOST_QUESTIONS} questions in one call.`, 'limit');
      call.stop.abort();
    }
    if (call.error !== undefined) return NO_ANSWER;
    const { context } = call;
    const asked = { ...question, message: shortenText(message, QUESTION_LENGTH) };
    try {
      const content = this.#options.elicit && (await this.#options.elicit(asked, context));
      if (content !== undefined && content !== false) return { action: 'accept', content };
      if (context.ask === undefined) throw new McpQuestionError(asked);
      return context.ask(asked);
    } catch (error) {
      call.error = error;
      return NO_ANSWER;
    }
  }
}

const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;
/** Transient refusals: Request Timeout, Too Early, Too Many Requests. */
const PASSING: readonly number[] = [408, 425, 429];

/** The status of an HTTP error of the SDK. */
function statusOf(error: unknown): number | undefined {
  return error instanceof StreamableHTTPError ? error.code : undefined;
}

/** True if the server may answer the same request later. */
function isPassing(error: unknown): boolean {
  const status = statusOf(error) ?? 0;
  if (status >= CLIENT_ERROR && status < SERVER_ERROR) return PASSING.includes(status);
  return error instanceof Error && !('input' in error) && refusedAddressIn(error) === undefined;
}

function refusalOf(error: unknown, connection: string): unknown {
  const status = statusOf(error);
  if (status === undefined) return error;
  return new Error(`mcpTools: the MCP server of ${connection} answered ${status}. Check url and headers.`, {
    cause: error,
  });
}

/** The code of the system, or the message of the error. */
function reasonOf(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  const code: unknown = isObject(cause) ? cause.code : undefined;
  return typeof code === 'string' ? code : shortenText(message, REASON_LENGTH);
}

function isTimeout(error: unknown): boolean {
  return error instanceof McpError && error.code === ErrorCode.RequestTimeout;
}

/** Messages of the connection are only in the cause: they may contain addresses and paths. */
function failureOf(cause: unknown, name: string): ToolError {
  const code: unknown = cause instanceof McpError ? cause.code : undefined;
  if (isTimeout(cause)) return new ToolError(`${name} took too long.`, 'timeout', { cause });
  if (code === ErrorCode.ConnectionClosed)
    return new ToolError(`The MCP server of ${name} ended during the call.`, 'interrupted', { cause });
  if (code === ErrorCode.InvalidParams)
    return new ToolError(`The MCP server refused the arguments of ${name}.`, 'invalid_input', { cause });
  return new ToolError(`The MCP server of ${name} cannot be used.`, 'threw', { cause });
}
