import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type RequestId,
  type ServerNotification,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { Client } from '../client/client.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../telemetry/logger.js';
import { oneLine, shortened } from './bounded-text.js';
import { SkillCall, type ToolCaller } from './skill-call.js';
import { type SkillTool, skillToolsOf } from './skill-tools.js';
import { failedResult, OUTPUT_SCHEMA, type TaskQuestion } from './task-result.js';
import { ArgumentsError, INPUT_SCHEMA, type ToolArguments, toolArguments } from './tool-arguments.js';

/** Options of an MCP server whose tools are the skills of agents. All have defaults. */
export interface McpServerOptions {
  /** Name of the server. Default: the name of the agent, or `parley` for several. */
  readonly name?: string;
  /** Version of the server. Default: that of the first card. */
  readonly version?: string;
  /** Text for the model of the client. Default: how to go on with a task and a conversation. */
  readonly instructions?: string;
  /** The longest wait for a turn of an agent, in ms; default 15 minutes. Its task goes on after that. */
  readonly turnMs?: number;
  /** The longest wait for an answer of the user, in ms; default 10 minutes. */
  readonly answerMs?: number;
  /** The most content of a result, in bytes; default 1 MiB. */
  readonly resultBytes?: number;
  /** The most calls at the same time; default 32. */
  readonly calls?: number;
}

/** The ports of an MCP server. */
export interface McpServerPorts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The parts of a request of the SDK that a call uses. */
interface RequestExtra {
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined;
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
/** Tools of a page. Each has the schemas, so a page has about 200 kB. */
const PAGE = 100;
const QUESTION_LENGTH = 10_000;

/** The answer that a client asks its user for. */
const ANSWER_SCHEMA = {
  type: 'object' as const,
  properties: { answer: { type: 'string' as const, title: 'Answer', maxLength: 100_000 } },
  required: ['answer'],
};

/**
 * Makes an MCP server for one connection. Its tools are the skills of the agents.
 */
export function mcpServer(
  agents: readonly Client[],
  options: McpServerOptions,
  { clock, logger }: McpServerPorts,
): Server {
  const tools = new Map(skillToolsOf(agents.map(({ card }) => card)).map((tool) => [tool.name, tool]));
  const [first] = agents;
  const server = new Server(
    {
      name: options.name ?? (agents.length === 1 && first !== undefined ? oneLine(first.card.name, 200) : 'parley'),
      version: options.version ?? oneLine(first?.card.version ?? '', 100),
    },
    { capabilities: { tools: {} }, instructions: options.instructions ?? INSTRUCTIONS },
  );
  const { turnMs = TURN_MS, resultBytes = RESULT_BYTES, calls = CALLS } = options;
  let running = 0;
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => pageOf([...tools.values()], params?.cursor));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    const tool = tools.get(params.name);
    const agent = tool === undefined ? undefined : agents[tool.agent];
    if (tool === undefined || agent === undefined)
      throw new McpError(ErrorCode.InvalidParams, `There is no tool ${oneLine(params.name, 100)}`);
    const read = readArguments(params.arguments, tool.skillId);
    if (typeof read === 'string') return failedResult(read);
    if (running >= calls) return failedResult(`Too many calls at the same time; the most are ${calls}.`);
    running += 1;
    try {
      const caller = callerOf(server, extra, options.answerMs ?? ANSWER_MS);
      return await new SkillCall({ agent, caller, turnMs, resultBytes, clock, logger }).result(read);
    } finally {
      running -= 1;
    }
  });
  return server;
}

/** A page of the list. The cursor is the name of the last tool before it. */
function pageOf(tools: readonly SkillTool[], cursor: string | undefined): { tools: Tool[]; nextCursor?: string } {
  const at = cursor === undefined ? 0 : tools.findIndex(({ name }) => name === cursor) + 1;
  if (cursor !== undefined && at === 0) throw new McpError(ErrorCode.InvalidParams, 'The cursor names no page');
  const page = tools.slice(at, at + PAGE);
  const last = tools.length > at + PAGE ? page.at(-1) : undefined;
  return { tools: page.map(listed), ...(last !== undefined && { nextCursor: last.name }) };
}

function listed({ name, title, description }: SkillTool): Tool {
  return {
    name,
    title,
    description,
    inputSchema: INPUT_SCHEMA,
    outputSchema: OUTPUT_SCHEMA,
    annotations: { title, openWorldHint: true },
  };
}

/** Faults go to the model as a result, so that it can correct them. */
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
    isConnected: () => server.transport !== undefined,
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
    ask:
      server.getClientCapabilities()?.elicitation?.form === undefined
        ? undefined
        : (question) => elicited(server, extra, { question, answerMs }),
  };
}

/** Asks the user. Declined, dismissed and late questions have no answer. */
async function elicited(
  server: Server,
  { signal, requestId }: RequestExtra,
  { question, answerMs }: { readonly question: TaskQuestion; readonly answerMs: number },
): Promise<string | undefined> {
  const message = shortened(question.text, QUESTION_LENGTH);
  try {
    const { action, content } = await server.elicitInput(
      { mode: 'form', message, requestedSchema: ANSWER_SCHEMA },
      { signal, timeout: answerMs, relatedRequestId: requestId },
    );
    const answer = action === 'accept' ? content?.answer : undefined;
    return typeof answer === 'string' && answer !== '' ? answer : undefined;
  } catch (error) {
    if (error instanceof McpError) return undefined;
    throw error;
  }
}
