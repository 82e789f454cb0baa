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
}

/**
 * Runs a tool once, until it ends, its time is over or the signal of the context aborts. A tool that ignores its signal
 * goes on, and its result is dropped.
 * @throws ToolError. An error of the tool is its cause, and its text is not in the message.
 */
export async function runTool({ tool, input, context, mostBytes, clock }: ToolExecution): Promise<JsonValue> {
  const ended = Promise.withResolvers<never>();
  const controller = new AbortController();
  const end = (error: ToolError) => {
    ended.reject(error);
    controller.abort(error);
  };
  const abort = () => end(new ToolError(`The call of ${tool.name} was aborted.`, 'aborted'));
  if (context.signal.aborted) throw new ToolError(`The call of ${tool.name} was aborted.`, 'aborted');
  context.signal.addEventListener('abort', abort, { once: true });
  const stopTimer = clock.after(tool.timeoutMs, () => {
    end(new ToolError(`${tool.name} took longer than ${tool.timeoutMs} ms.`, 'timeout'));
  });
  try {
    const run = ignoreRejection(started(tool, input, { ...context, signal: controller.signal }));
    return await checkedOutput(tool, await Promise.race([run, ended.promise]), mostBytes);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`${tool.name} failed.`, 'threw', { cause: error });
  } finally {
    stopTimer();
    context.signal.removeEventListener('abort', abort);
  }
}

async function started(tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
  return await tool.run(input, context);
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
