import type { JsonValue } from '../model/json.js';
import { jsonFault } from '../model/json-fault.js';
import { validated } from '../model/standard-schema.js';
import type { Clock } from '../runtime/clock.js';
import { ignoreRejection } from '../runtime/settled.js';
import { type Tool, type ToolContext, ToolError } from './tool.js';

/** Limits of calls. */
export interface ToolLimits {
  /** Bytes of the arguments of a call as JSON. */
  readonly inputBytes: number;
  /** Bytes of a result as JSON. */
  readonly outputBytes: number;
  /** Runs at the same time. Further calls wait. */
  readonly parallelCalls: number;
  /** Calls of one task. */
  readonly callsPerTask: number;
  /** Time in which a call must be approved, in ms. */
  readonly approvalMs: number;
}

/** The default limits. */
export const DEFAULT_TOOL_LIMITS: ToolLimits = {
  inputBytes: 262_144,
  outputBytes: 262_144,
  parallelCalls: 8,
  callsPerTask: 1_000,
  approvalMs: 86_400_000,
};

/**
 * The validated arguments of a call. The schema gets the arguments as JSON, so that a repeated run sees the same.
 * @throws ToolError `invalid_input` or `limit`.
 */
export async function checkedInput(tool: Tool, input: unknown, mostBytes: number): Promise<unknown> {
  const fault = jsonFault(input);
  if (fault !== undefined) throw new ToolError(`The arguments of ${tool.name} ${fault}.`, 'invalid_input');
  if (isLarger(input, mostBytes)) {
    throw new ToolError(`The arguments of ${tool.name} have more than ${mostBytes} bytes.`, 'limit');
  }
  const result = await validated(tool.input, input);
  if ('value' in result) return result.value;
  throw new ToolError(`The arguments of ${tool.name} are not valid. ${result.faults.join('; ')}`, 'invalid_input');
}

/** One run of a tool. */
export interface ToolExecution {
  readonly tool: Tool;
  /** Validated arguments. */
  readonly input: unknown;
  readonly context: ToolContext;
  readonly mostBytes: number;
  readonly clock: Clock;
  /** Called once if the run takes longer than `ms`. */
  readonly whenSlow?: { readonly ms: number; readonly tell: () => void };
}

/**
 * Runs a tool once, until it ends, its time is over or the signal of the context aborts. A tool that ignores its signal
 * goes on, and its result is dropped.
 * @throws ToolError. An error of the tool is its cause, and its text is not in the message.
 */
export async function runTool(execution: ToolExecution): Promise<JsonValue> {
  const { tool, input, context, mostBytes } = execution;
  if (context.signal.aborted) throw aborted(tool);
  const run = new RunContext(context);
  try {
    const result = tool.run(input, run);
    return await checkedOutput(
      tool,
      isPromise(result) ? await awaited(execution, run, Promise.resolve(result)) : result,
      mostBytes,
    );
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`${tool.name} failed.`, 'threw', { cause: error });
  }
}

/** The result of a run that is not there at once. */
async function awaited(
  { tool, context, clock, whenSlow }: ToolExecution,
  run: RunContext,
  result: Promise<unknown>,
): Promise<unknown> {
  const ended = Promise.withResolvers<never>();
  const end = (error: ToolError) => {
    ended.reject(error);
    run.abort(error);
  };
  const abort = () => end(aborted(tool));
  context.signal.addEventListener('abort', abort, { once: true });
  const stopTimeout = clock.after(tool.timeoutMs, () => {
    end(new ToolError(`${tool.name} took longer than ${tool.timeoutMs} ms.`, 'timeout'));
  });
  const stopSlow = whenSlow && clock.after(whenSlow.ms, whenSlow.tell);
  try {
    return await Promise.race([ignoreRejection(result), ended.promise]);
  } finally {
    stopTimeout();
    stopSlow?.();
    context.signal.removeEventListener('abort', abort);
  }
}

/** The context of one run. Its signal is made at the first read. */
class RunContext implements ToolContext {
  readonly callId: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly user?: ToolContext['user'];
  readonly tenant?: string;
  #controller: AbortController | undefined;
  #reason: ToolError | undefined;

  constructor({ callId, taskId, contextId, user, tenant }: ToolContext) {
    this.callId = callId;
    if (taskId !== undefined) this.taskId = taskId;
    if (contextId !== undefined) this.contextId = contextId;
    if (user !== undefined) this.user = user;
    if (tenant !== undefined) this.tenant = tenant;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: ToolError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

function aborted({ name }: Tool): ToolError {
  return new ToolError(`The call of ${name} was aborted.`, 'aborted');
}

/** Promises of other libraries count as well. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

async function checkedOutput(tool: Tool, output: unknown, mostBytes: number): Promise<JsonValue> {
  const result = tool.output === undefined ? { value: output } : await validated(tool.output, output);
  if ('faults' in result) {
    const cause = new TypeError(result.faults.join('; '));
    throw new ToolError(`${tool.name} returned a result that is not valid.`, 'invalid_output', { cause });
  }
  const value = result.value === undefined ? null : result.value;
  const fault = jsonFault(value);
  if (fault !== undefined) throw new ToolError(`The result of ${tool.name} ${fault}.`, 'invalid_output');
  if (isLarger(value, mostBytes)) {
    throw new ToolError(`The result of ${tool.name} has more than ${mostBytes} bytes.`, 'limit');
  }
  return value as JsonValue;
}

function isLarger(value: unknown, mostBytes: number): boolean {
  const text = JSON.stringify(value);
  // UTF-8 needs at most 3 bytes for a code unit of UTF-16.
  if (text.length * 3 <= mostBytes) return false;
  return new TextEncoder().encode(text).length > mostBytes;
}
