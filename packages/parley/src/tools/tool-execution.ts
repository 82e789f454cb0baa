import type { JsonValue } from '../model/json.js';
import { type Validated, validatedAtOnce, validateValue } from '../model/standard-schema.js';
import type { Clock } from '../runtime/clock.js';
import { ignoreRejection } from '../runtime/settled.js';
import { TRACING, type Tracing, tracingOf } from '../telemetry/tracing.js';
import { jsonCopy } from './json-copy.js';
import { AnswerNeededError, type Tool, type ToolContext, ToolError } from './tool.js';

/** Limits of calls. */
export interface ToolLimits {
  /** Bytes of the arguments of a call as JSON. Default 256 KiB. */
  readonly inputBytes: number;
  /** Bytes of a result as JSON. Default 256 KiB. */
  readonly outputBytes: number;
  /** Runs at the same time. Further calls wait. Default 8. */
  readonly parallelCalls: number;
  /** Calls of one task. Default 1,000. */
  readonly callsPerTask: number;
  /** Time in which a call must be approved or answered, in ms. Default 24 hours. */
  readonly approvalMs: number;
  /** Questions that a tool may ask in one call. Default 10. */
  readonly questionsPerCall: number;
}

/** The default limits. */
export const DEFAULT_TOOL_LIMITS: ToolLimits = {
  inputBytes: 262_144,
  outputBytes: 262_144,
  parallelCalls: 8,
  callsPerTask: 1_000,
  approvalMs: 86_400_000,
  questionsPerCall: 10,
};

/**
 * Copies the arguments of a call as plain JSON, so that checks, records and the tool get the same values.
 * @throws ToolError `invalid_input` or `limit`.
 */
export function jsonInput(name: string, input: unknown, mostBytes: number): JsonValue {
  try {
    return jsonCopy(input, { what: 'arguments', tool: name, mostBytes });
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`The arguments of ${name} cannot be read as JSON.`, 'invalid_input', { cause: error });
  }
}

/**
 * The validated arguments of a call.
 * @throws ToolError `invalid_input`.
 */
export function checkedInput(tool: Tool, input: JsonValue): unknown | Promise<unknown> {
  try {
    const result = validatedAtOnce(tool.input, input);
    if (!('then' in result)) return inputIn(tool, result);
    return result.then(
      (found) => inputIn(tool, found),
      (error) => Promise.reject(unreadable(tool, error)),
    );
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw unreadable(tool, error);
  }
}

function inputIn({ name }: Tool, result: Validated<unknown>): unknown {
  if ('value' in result) return result.value;
  throw new ToolError(`The arguments of ${name} are not valid. ${result.faults.join('; ')}`, 'invalid_input');
}

/** The failure text of a call whose process died during its run, if the tool is not idempotent. */
export function interruptedText(tool: string): string {
  return `${tool} was interrupted, and must not run again. Its effect is not known.`;
}

/** One run of a tool. */
interface ToolExecution {
  readonly tool: Tool;
  /** Validated arguments. */
  readonly input: unknown;
  readonly context: ToolContext;
  readonly mostBytes: number;
  readonly clock: Clock;
  /** Called once if the run takes longer than `ms`. */
  readonly whenSlow?: { readonly ms: number; readonly tell: () => void };
}

/** The result of a run. */
export interface ToolResult {
  /** As the tool returned it. */
  readonly value: JsonValue;
  /** A copy as JSON, shared with no other code. */
  readonly copy: JsonValue;
}

/**
 * Runs a tool once, until it ends, its time is over or the signal of the context aborts. A tool that ignores its signal
 * runs on, and its result is dropped. Synchronous if the tool and its schema are.
 * @throws ToolError. An error of the tool is its cause, and its text is not in the message.
 */
export function runTool(execution: ToolExecution): ToolResult | Promise<ToolResult> {
  const tracing = tracingOf(execution.context);
  if (tracing?.isOn !== true) return runToolOnce(execution);
  const { tool, input, context } = execution;
  const call = { name: tool.name, callId: context.callId, taskId: context.taskId, input };
  return tracing.tool(call, () => runToolOnce(execution));
}

function runToolOnce(execution: ToolExecution): ToolResult | Promise<ToolResult> {
  const { tool, input, context, mostBytes } = execution;
  try {
    if (context.signal.aborted) throw abortedCall(tool.name);
    const run = new RunContext(context);
    const result = tool.run(input, run);
    if (isPromise(result) || tool.output !== undefined) return checkedOutput(execution, run, result);
    return toolResult(tool, result, mostBytes);
  } catch (error) {
    throw asToolError(tool, error);
  }
}

async function checkedOutput(execution: ToolExecution, run: RunContext, result: unknown): Promise<ToolResult> {
  const { tool, mostBytes } = execution;
  try {
    const output = isPromise(result) ? await awaitResult(execution, run, Promise.resolve(result)) : result;
    if (tool.output === undefined) return toolResult(tool, output, mostBytes);
    return toolResult(tool, outputIn(tool, await validateValue(tool.output, output)), mostBytes);
  } catch (error) {
    throw asToolError(tool, error);
  }
}

function asToolError({ name }: Tool, error: unknown): Error {
  if (error instanceof ToolError || error instanceof AnswerNeededError) return error;
  return new ToolError(`${name} failed.`, 'threw', { cause: error });
}

/** The result of an asynchronous run. */
async function awaitResult(
  { tool, context, clock, whenSlow }: ToolExecution,
  run: RunContext,
  result: Promise<unknown>,
): Promise<unknown> {
  const ended = Promise.withResolvers<never>();
  const end = (error: ToolError) => {
    ended.reject(error);
    run.abort(error);
  };
  const abort = () => end(abortedCall(tool.name));
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

/** The context of one run. Its signal is made when it is first read. */
class RunContext implements ToolContext {
  readonly #outer: ToolContext;
  #controller: AbortController | undefined;
  #reason: ToolError | undefined;

  constructor(outer: ToolContext) {
    this.#outer = outer;
  }

  get callId(): string {
    return this.#outer.callId;
  }

  get taskId(): string | undefined {
    return this.#outer.taskId;
  }

  get contextId(): string | undefined {
    return this.#outer.contextId;
  }

  get user(): ToolContext['user'] {
    return this.#outer.user;
  }

  get tenant(): string | undefined {
    return this.#outer.tenant;
  }

  get [TRACING](): Tracing | undefined {
    return tracingOf(this.#outer);
  }

  get ask(): ToolContext['ask'] {
    return this.#outer.ask;
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

/** The failure of a call that was aborted, or whose run is over. */
export function abortedCall(name: string): ToolError {
  return new ToolError(`The call of ${name} was aborted.`, 'aborted');
}

/** True for promises, including those of other libraries. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function outputIn({ name }: Tool, result: Validated<unknown>): unknown {
  if ('value' in result) return result.value;
  const cause = new TypeError(result.faults.join('; '));
  throw new ToolError(`${name} returned a result that is not valid.`, 'invalid_output', { cause });
}

function toolResult({ name }: Tool, output: unknown, mostBytes: number): ToolResult {
  const value = output === undefined ? null : output;
  const copy = jsonCopy(value, { what: 'result', tool: name, mostBytes });
  return { value: value as JsonValue, copy };
}

function unreadable({ name }: Tool, cause: unknown): ToolError {
  return new ToolError(`The schema of ${name} failed.`, 'invalid_input', { cause });
}

/** True if a value has more bytes as JSON. */
export function isLarger(value: unknown, mostBytes: number): boolean {
  // JSON escapes a code unit by 6 characters at most.
  if (typeof value === 'string' && value.length * 6 + 2 <= mostBytes) return false;
  const text = JSON.stringify(value);
  // UTF-8 needs at most 3 bytes for a code unit of UTF-16.
  if (text.length * 3 <= mostBytes) return false;
  return new TextEncoder().encode(text).length > mostBytes;
}
