import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  CancelTaskRequestSchema,
  type CreateTaskResult,
  ErrorCode,
  GetTaskPayloadRequestSchema,
  GetTaskRequestSchema,
  ListTasksRequestSchema,
  ListToolsRequestSchema,
  McpError,
  type RequestId,
  type ServerNotification,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from 'parley-a2a';
import type { Client } from 'parley-a2a/client';
import { type OptionSchemas, positive, Type, text } from 'parley-a2a/kit';
import type { Clock, IdSource } from 'parley-a2a/server';
import { oneLine, shortenText } from './bounded-text.js';
import type { FormResult, QuestionForm } from './question-form.js';
import { relatedTo, SessionTasks } from './session-tasks.js';
import { SkillCall, type ToolCaller } from './skill-call.js';
import { type SkillTool, skillToolsOf } from './skill-tools.js';
import { failedResult, OUTPUT_SCHEMA } from './task-result.js';
import { ArgumentsError, INPUT_SCHEMA, type ToolArguments, toolArguments } from './tool-arguments.js';

/** Options of an MCP server whose tools are the skills of agents. All have defaults. */
export interface McpServerOptions {
  /** Name of the server. Default: the name of the agent, or `parley` for several. */
  readonly name?: string;
  /** Version of the server. Default: that of the first card. */
  readonly version?: string;
  /** Text for the model of the client. Default: how to go on with a task and a conversation. */
  readonly instructions?: string;
  /** Time limit for a turn of an agent, in ms; default 15 minutes. Its task continues after that. */
  readonly turnMs?: number;
  /** Time limit for an answer of the user, in ms; default 10 minutes. */
  readonly answerMs?: number;
  /** Maximum size of a result, in bytes; default 1 MiB. */
  readonly resultBytes?: number;
  /** Maximum number of concurrent calls; default 32. Requests for results of tasks count, too. */
  readonly calls?: number;
  /** Maximum number of tasks of a session; default 100. Beyond it, the oldest ended one is replaced by a new one. */
  readonly tasks?: number;
  /** Maximum time that a session stores a task, in ms; default 24 hours. The agent has its own retention. */
  readonly taskMs?: number;
}

const amount = Type.Optional(positive);
const shown = Type.Optional(text);

/** The schemas of McpServerOptions. */
export const mcpServerSchemas: OptionSchemas<McpServerOptions> = {
  name: shown,
  version: shown,
  instructions: shown,
  turnMs: amount,
  answerMs: amount,
  resultBytes: amount,
  calls: amount,
  tasks: amount,
  taskMs: amount,
};

/** The ports of an MCP server. */
interface McpServerPorts {
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'random'>;
  readonly logger: Logger;
}

/** The parts of a request of the SDK that a call uses. */
interface RequestExtra {
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  readonly _meta?:
    | { readonly progressToken?: string | number | undefined; readonly [member: string]: unknown }
    | undefined;
  sendNotification(notification: ServerNotification): Promise<void>;
}

const INSTRUCTIONS = [
  'Each tool is a skill of an agent. A call sends a message to it and waits for the answer.',
  'To go on with a conversation, give the contextId of an earlier result.',
  'If a result asks for input, call the same tool with its taskId and the answer as message.',
].join(' ');
const TURN_MS = 15 * 60_000;
const ANSWER_MS = 10 * 60_000;
const RESULT_BYTES = 1024 * 1024;
const CALLS = 32;
const TASKS = 100;
const TASK_MS = 24 * 60 * 60_000;
/** Tools per page. Each contains the schemas, so a page has about 200 kB. */
const PAGE = 100;
const QUESTION_LENGTH = 10_000;

/** A server of the SDK with hooks for the end of its connection, because applications may set `onclose`. */
class SkillServer extends Server {
  readonly ended: (() => void)[] = [];

  override async connect(transport: Transport): Promise<void> {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      for (const end of this.ended) end();
    };
    await super.connect(transport);
  }
}

/**
 * Makes an MCP server for one connection. Its tools are the skills of the agents. A call may become a task.
 */
export function mcpServer(
  agents: readonly Client[],
  options: McpServerOptions,
  { clock, ids, logger }: McpServerPorts,
): Server {
  const tools = new Map(skillToolsOf(agents.map(({ card }) => card)).map((tool) => [tool.name, tool]));
  const [first] = agents;
  const server = new SkillServer(
    {
      name: options.name ?? (agents.length === 1 && first !== undefined ? oneLine(first.card.name, 200) : 'parley'),
      version: options.version ?? oneLine(first?.card.version ?? '', 100),
    },
    {
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      instructions: options.instructions ?? INSTRUCTIONS,
    },
  );
  const { turnMs = TURN_MS, answerMs = ANSWER_MS, resultBytes = RESULT_BYTES, calls = CALLS } = options;
  const tasks = new SessionTasks(
    { tasks: options.tasks ?? TASKS, taskMs: options.taskMs ?? TASK_MS, turnMs, resultBytes },
    { notify: (notification) => server.notification(notification), clock, ids, logger },
  );
  server.ended.push(() => tasks.close());
  let running = 0;
  const countCall = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    running += 1;
    try {
      return await call();
    } finally {
      running -= 1;
    }
  };
  const tooMany = () => (running >= calls ? `Too many calls at the same time; the most are ${calls}.` : undefined);
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => pageOf([...tools.values()], params?.cursor));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, extra): Promise<CallToolResult | CreateTaskResult> => {
      const tool = tools.get(params.name);
      const agent = tool === undefined ? undefined : agents[tool.agent];
      if (tool === undefined || agent === undefined)
        throw new McpError(ErrorCode.InvalidParams, `There is no tool ${oneLine(params.name, 100)}`);
      const read = readArguments(params.arguments, tool.skillId);
      const fault = typeof read === 'string' ? read : tooMany();
      if (params.task === undefined) {
        if (typeof read === 'string' || fault !== undefined) return failedResult(fault ?? '');
        const caller = callerOf(server, extra, answerMs);
        return countCall(() => new SkillCall({ agent, caller, turnMs, resultBytes, clock, logger }).result(read));
      }
      // A call that does not become a task has no result, so a wrong one is an error.
      if (typeof read === 'string' || fault !== undefined) throw new McpError(ErrorCode.InvalidParams, fault ?? '');
      const { ttl } = params.task;
      const progressToken = extra._meta?.progressToken;
      return countCall(() =>
        tasks.create({ agent, input: read, signal: extra.signal, ttl, progressToken, trace: traceIn(extra) }),
      );
    },
  );
  server.setRequestHandler(GetTaskRequestSchema, ({ params }) => tasks.get(params.taskId));
  server.setRequestHandler(ListTasksRequestSchema, ({ params }) => tasks.list(params?.cursor));
  server.setRequestHandler(CancelTaskRequestSchema, ({ params }) => tasks.cancel(params.taskId));
  server.setRequestHandler(GetTaskPayloadRequestSchema, ({ params: { taskId } }, extra) => {
    const fault = tooMany();
    if (fault !== undefined) throw new McpError(ErrorCode.InternalError, fault);
    const { signal } = extra;
    return countCall(() => tasks.result(taskId, { signal, ask: askerOf(server, extra, { answerMs, taskId }) }));
  });
  return server;
}

/** A page of the list. The cursor is the name of the last tool before it. */
function pageOf(tools: readonly SkillTool[], cursor: string | undefined): { tools: Tool[]; nextCursor?: string } {
  const at = cursor === undefined ? 0 : tools.findIndex(({ name }) => name === cursor) + 1;
  if (cursor !== undefined && at === 0) throw new McpError(ErrorCode.InvalidParams, 'The cursor names no page');
  const page = tools.slice(at, at + PAGE);
  const last = tools.length > at + PAGE ? page.at(-1) : undefined;
  return { tools: page.map(toTool), ...(last !== undefined && { nextCursor: last.name }) };
}

function toTool({ name, title, description }: SkillTool): Tool {
  return {
    name,
    title,
    description,
    inputSchema: INPUT_SCHEMA,
    outputSchema: OUTPUT_SCHEMA,
    annotations: { title, openWorldHint: true },
    execution: { taskSupport: 'optional' },
  };
}

/** Faults are a result for the model, so that it can correct them. */
function readArguments(given: unknown, skillId: string | undefined): ToolArguments | string {
  try {
    return toolArguments(given, skillId);
  } catch (error) {
    if (error instanceof ArgumentsError) return `Invalid arguments: ${error.message}`;
    throw error;
  }
}

function callerOf(server: Server, extra: RequestExtra, answerMs: number): ToolCaller {
  const progressToken = extra._meta?.progressToken;
  let progress = 0;
  return {
    signal: extra.signal,
    // When only the connection ends, the task continues.
    cancelsTask: () => server.transport !== undefined,
    progress:
      progressToken === undefined
        ? undefined
        : async (message) => {
            progress += 1;
            await extra.sendNotification({
              method: 'notifications/progress',
              params: { progressToken, progress, message },
            });
          },
    ask: askerOf(server, extra, { answerMs }),
    trace: traceIn(extra),
  };
}

/** The longest members of a trace context: of `traceparent`, and of `tracestate` (W3C Trace Context §3.3.1.5). */
const TRACE_LENGTHS = { traceparent: 64, tracestate: 512 } as const;

/** The trace context in the `_meta` of a request. Untrusted baggage is not passed on. */
function traceIn({ _meta = {} }: RequestExtra): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, length] of Object.entries(TRACE_LENGTHS)) {
    const value = _meta[name];
    if (typeof value === 'string' && value.length <= length && /^[\x20-\x7e]+$/.test(value)) found[name] = value;
  }
  return found;
}

/** Questions to the user on the stream of a request. `taskId` names the task of the request. */
interface AskerOptions {
  readonly answerMs: number;
  readonly taskId?: string;
}

function askerOf(server: Server, extra: RequestExtra, options: AskerOptions): ToolCaller['ask'] {
  if (server.getClientCapabilities()?.elicitation?.form === undefined) return undefined;
  return (form) => elicit(server, extra, { ...options, form });
}

/** Asks the user. Undefined for a dismissed or late answer. */
async function elicit(
  server: Server,
  { signal, requestId }: RequestExtra,
  { form, answerMs, taskId }: AskerOptions & { readonly form: QuestionForm },
): Promise<FormResult | undefined> {
  const { text, requestedSchema } = form;
  const _meta = taskId === undefined ? {} : { _meta: relatedTo(taskId) };
  try {
    const { action, content = {} } = await server.elicitInput(
      { mode: 'form', message: shortenText(text, QUESTION_LENGTH), requestedSchema, ..._meta },
      { signal, timeout: answerMs, relatedRequestId: requestId },
    );
    if (action === 'cancel') return undefined;
    return action === 'accept' ? { action, content } : { action };
  } catch (error) {
    if (error instanceof McpError) return undefined;
    throw error;
  }
}
