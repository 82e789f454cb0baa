import { OptionsError } from '../errors/options-error.js';
import { cloneJson } from '../model/clone-json.js';
import type { JsonValue } from '../model/json.js';
import type { Clock } from '../runtime/clock.js';
import { type Tool, type ToolCall, type ToolContext, ToolError, type ToolListener } from './tool.js';
import { checkedInput, DEFAULT_TOOL_LIMITS, jsonInput, runTool, type ToolLimits } from './tool-execution.js';

/** Options of a call outside of a task. */
export interface ExecuteOptions {
  /** Names the call for callbacks. Default: the name of the tool. */
  readonly callId?: string;
  readonly signal?: AbortSignal;
  /** Hears each change of the call. */
  readonly onEvent?: ToolListener;
  /** Answers for a tool that needs an approval. Absent: the call is refused. */
  readonly approve?: (call: ToolCall) => boolean | Promise<boolean>;
  readonly limits?: Partial<ToolLimits>;
}

/** Tools by name. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  /** The time for timeouts and expiries. */
  readonly clock: Clock;

  /** @throws OptionsError if two tools have the same name. */
  constructor(tools: Iterable<Tool>, clock: Clock) {
    this.clock = clock;
    for (const tool of tools) this.register(tool);
  }

  /** @throws OptionsError if the name is taken. */
  register(tool: Tool): this {
    if (this.#tools.has(tool.name)) throw new OptionsError('ToolRegistry', [`the tool ${tool.name} exists already`]);
    this.#tools.set(tool.name, tool);
    return this;
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** All tools, in the order of their registration. */
  list(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  /**
   * Runs a tool outside of a task. Nothing is recorded.
   * @throws ToolError
   */
  async execute<Input, Output>(tool: Tool<Input, Output>, input: Input, options?: ExecuteOptions): Promise<Output>;
  async execute(tool: string, input: unknown, options?: ExecuteOptions): Promise<JsonValue>;
  async execute(named: Tool | string, input: unknown, options: ExecuteOptions = {}): Promise<unknown> {
    const name = typeof named === 'string' ? named : named.name;
    const { callId = name, signal = new AbortController().signal, onEvent, approve } = options;
    const { inputBytes, outputBytes } = { ...DEFAULT_TOOL_LIMITS, ...options.limits };
    const context: ToolContext = { callId, signal };
    let call: ToolCall = { id: callId, tool: name, state: 'requested' };
    const change = (change: Partial<ToolCall>) => {
      call = { ...call, ...change };
      onEvent?.({ call });
    };
    try {
      const tool = this.#tools.get(name);
      if (!tool) throw new ToolError(`There is no tool ${name}.`, 'unknown_tool');
      const json = jsonInput(name, input, inputBytes);
      change({ input: json });
      const value = await checkedInput(tool, cloneJson(json));
      if (await tool.asksApproval(value, context)) {
        if (!(await approve?.(call))) throw new ToolError(`The call of ${name} was not approved.`, 'refused');
        change({ state: 'approved' });
      }
      change({ state: 'running' });
      const output = await runTool({ tool, input: value, context, mostBytes: outputBytes, clock: this.clock });
      change({ state: 'succeeded', output });
      return output;
    } catch (error) {
      const failed = error instanceof ToolError ? error : new ToolError(`${name} failed.`, 'threw', { cause: error });
      const { reason, message } = failed;
      change({ state: reason === 'refused' ? 'refused' : 'failed', failure: { reason, message } });
      throw failed;
    }
  }
}
