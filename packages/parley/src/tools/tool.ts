import type { User } from '../auth/user.js';
import { OptionsError } from '../errors/options-error.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import { type InputOf, jsonSchemaOf, type OutputOf, type StandardSchema } from '../model/standard-schema.js';
import { checkOptions } from '../options/check-options.js';
import { optionObject } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';

/** The call that a tool runs for. */
export interface ToolContext {
  /** Identifies the call within its task. A repeated run of the same call has the same id. */
  readonly callId: string;
  /** Aborts at the timeout of the tool and when the turn of the agent ends. */
  readonly signal: AbortSignal;
  /** The task of the call. Absent outside of a turn. */
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  /** The caller of the task. */
  readonly user?: User | undefined;
  readonly tenant?: string | undefined;
  /**
   * Asks the owner of the task. The run ends with an error, which the tool must not catch, and the task becomes
   * INPUT_REQUIRED. After the answer the tool runs again from its beginning, and the same question returns that answer.
   * Absent outside of `runTools`.
   */
  readonly ask?: ((question: ToolQuestion) => ToolAnswer) | undefined;
}

/** A question of a tool to the owner of the task. */
export interface ToolQuestion {
  readonly message: string;
  /** JSON Schema of the answer: an object of plain fields. Absent: the answer is a yes or a no. */
  readonly schema?: JsonObject;
}

/** The answer to a question. `cancel`: the owner has dismissed it. */
export interface ToolAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The fields of an accepted form. */
  readonly content?: JsonObject;
}

/** A question, and its answer if there is one. */
export interface AskedQuestion {
  readonly question: ToolQuestion;
  readonly answer?: ToolAnswer;
}

/** Ends a run that needs an answer from the owner. */
export class AnswerNeededError extends Error {
  override readonly name = 'AnswerNeededError';
  readonly question: ToolQuestion;

  constructor(question: ToolQuestion) {
    super('The tool needs an answer of the owner of the task.');
    this.question = question;
  }
}

/** True, false, or a rule that decides for each validated input. */
export type ApprovalRule<Input> = boolean | ((input: Input, context: ToolContext) => boolean | Promise<boolean>);

/** The parts of a tool. */
export interface ToolOptions<Input extends StandardSchema, Output extends StandardSchema> {
  /** 1 to 128 letters, digits, `_`, `-`, `.` and `/`. */
  readonly name: string;
  /** Describes the tool for models and people. */
  readonly description?: string;
  /** Checks the arguments of each call. */
  readonly input: Input;
  /** Checks each result. Default: any JSON. */
  readonly output?: Output;
  /**
   * Runs the tool on validated arguments. `context` has `callId`, `signal`, `taskId`, `user`, `tenant` and `ask`. A
   * `ToolError` tells the caller its message. Of any other error the caller learns only that the tool failed.
   */
  readonly run: (input: OutputOf<Input>, context: ToolContext) => InputOf<Output> | Promise<InputOf<Output>>;
  /**
   * The owner of the task must approve a call before it runs: `true`, or a rule `(input, context) => boolean`. Default
   * false.
   */
  readonly needsApproval?: ApprovalRule<OutputOf<Input>>;
  /** Longest run, in ms. Default 60 000. */
  readonly timeoutMs?: number;
  /** True if the tool may run twice. Only then a call runs again whose process died. Default false. */
  readonly idempotent?: boolean;
}

/** A tool of an agent. `Input` is the type of its arguments, `Output` that of its results. */
export interface Tool<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: StandardSchema;
  readonly output: StandardSchema | undefined;
  /** JSON Schemas for models and MCP. Undefined if the library of the schema gives none. */
  readonly inputSchema: JsonObject | undefined;
  readonly outputSchema: JsonObject | undefined;
  readonly timeoutMs: number;
  readonly idempotent: boolean;
  /** False if no call needs an approval. Otherwise `asksApproval` decides. */
  readonly needsApproval: boolean;
  /** Decides if a call with this validated input needs an approval. */
  asksApproval(input: unknown, context: ToolContext): boolean | Promise<boolean>;
  /** Runs the tool on validated input. */
  run(input: unknown, context: ToolContext): unknown;
  /** For the compiler only. */
  readonly types?: { readonly input: Input; readonly output: Output };
}

/** The states of a call. The last four are final. */
export const TOOL_CALL_STATES = [
  'requested',
  'approved',
  'running',
  'succeeded',
  'failed',
  'refused',
  'canceled',
] as const;

/**
 * `requested` waits for an approval, for an answer or for its run. `approved` is also a call with a new answer.
 * `canceled`: the task ended before the call did.
 */
export type ToolCallState = (typeof TOOL_CALL_STATES)[number];

/** Reasons why a call has no result. */
export const TOOL_FAILURES = [
  'unknown_tool',
  'invalid_input',
  'invalid_output',
  'threw',
  'timeout',
  'aborted',
  'interrupted',
  'refused',
  'expired',
  'superseded',
  'conflict',
  'limit',
] as const;

/**
 * `interrupted`: the process died during a run that must not be repeated. `superseded`: another message came instead.
 */
export type ToolFailureReason = (typeof TOOL_FAILURES)[number];

/** The failure of a call, without internals of the agent. */
export interface ToolFailure {
  readonly reason: ToolFailureReason;
  readonly message: string;
}

/** One call of a tool. */
export interface ToolCall {
  readonly id: string;
  readonly tool: string;
  readonly state: ToolCallState;
  /** The arguments. In a stream, only the first event of a call has them. */
  readonly input?: JsonValue;
  /** The result of a call that succeeded. */
  readonly output?: JsonValue;
  /** Present if the call failed, was refused or was canceled. */
  readonly failure?: ToolFailure;
  /** Present while the call waits for an approval or an answer. An ISO time. */
  readonly expiresAt?: string;
  /** Present while the call waits for an answer. */
  readonly question?: ToolQuestion;
}

/** A change of a call. `call` is the call after the change. */
export interface ToolEvent {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly call: ToolCall;
}

/** Called with the changes of calls, in order. It must not throw. */
export type ToolListener = (event: ToolEvent) => void;

/** A call without a result. A tool may throw it to give the caller a reason. */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';
  readonly reason: ToolFailureReason;

  constructor(message: string, reason: ToolFailureReason = 'threw', options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The call waits for the owner of the task. `runTools` asks for the approval or answer once the agent has returned. */
export class ApprovalNeededError extends Error {
  override readonly name = 'ApprovalNeededError';
  readonly call: ToolCall;

  constructor(call: ToolCall) {
    super(`The call ${call.id} of ${call.tool} needs ${call.question === undefined ? 'an approval' : 'an answer'}.`);
    this.call = call;
  }
}

/** Options from untyped code. */
type Checked = { readonly [Name in 'name' | 'input' | 'output' | 'run' | 'timeoutMs']?: unknown };

const NAME = /^[\w./-]{1,128}$/;
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Makes a tool. Arguments and results are checked by schemas of any library that follows Standard Schema.
 * @throws OptionsError naming every wrong option.
 */
export function defineTool<Input extends StandardSchema, Output extends StandardSchema = StandardSchema>(
  options: ToolOptions<Input, Output>,
): Tool<InputOf<Input>, OutputOf<Output>> {
  checkOptions({ subject: 'defineTool', schema: toolSchema, options });
  const problems = problemsOf(options);
  if (problems.length > 0) throw new OptionsError('defineTool', problems);
  const { name, description = '', input, output, run, needsApproval = false, idempotent = false } = options;
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return Object.freeze({
    name,
    description,
    input,
    output,
    inputSchema: jsonSchemaOf(input),
    outputSchema: output && jsonSchemaOf(output),
    timeoutMs,
    idempotent,
    needsApproval: needsApproval !== false,
    asksApproval: (value: unknown, context: ToolContext) =>
      typeof needsApproval === 'boolean' ? needsApproval : needsApproval(value as OutputOf<Input>, context),
    run: (value: unknown, context: ToolContext) => run(value as OutputOf<Input>, context),
  });
}

const some = Type.Optional(Type.Unknown());
/** The names of the options. Their values are checked separately, because schema libraries differ. */
const toolSchema = optionObject({
  ...{ name: some, description: some, input: some, output: some, run: some },
  ...{ needsApproval: some, idempotent: some, timeoutMs: some },
  // Members of a tool from which another one is made.
  ...{ inputSchema: some, outputSchema: some, asksApproval: some },
});

function problemsOf({ name, input, output, run, timeoutMs }: Checked): readonly string[] {
  const problems: string[] = [];
  if (typeof name !== 'string' || !NAME.test(name)) problems.push('name: must be 1 to 128 letters, digits, _ - . /');
  if (!isSchema(input)) problems.push('input: must be a Standard Schema, such as one of Zod, or jsonSchema(…)');
  if (output !== undefined && !isSchema(output)) problems.push('output: must be a Standard Schema');
  if (typeof run !== 'function') problems.push('run: must be a function');
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && Number(timeoutMs) > 0)) {
    problems.push('timeoutMs: must be a positive number of ms');
  }
  return problems;
}

/** Schemas of some libraries are functions. */
function isSchema(value: unknown): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return '~standard' in value && typeof (value as StandardSchema)['~standard'].validate === 'function';
}
