import { OptionsError } from '../errors/options-error.js';
import { cloneJson } from '../model/clone-json.js';
import type { JsonValue } from '../model/json.js';
import { refuseArgument } from '../options/refuse-argument.js';
import type { Clock } from '../runtime/clock.js';
import { type Tool, type ToolCall, type ToolContext, ToolError, type ToolListener } from './tool.js';
import { checkedInput, DEFAULT_TOOL_LIMITS, jsonInput, runTool, type ToolLimits } from './tool-execution.js';

/** Options of a call outside of a task. */
export interface ExecuteOptions {
  /** The name of the call in callbacks. Default: the name of the tool. */
  readonly callId?: string;
  readonly signal?: AbortSignal;
  /** Called with each change of the call. */
  readonly onEvent?: ToolListener;
  /** Decides about a tool that needs an approval. Absent: the call is refused. */
  readonly approve?: (call: ToolCall) => boolean | Promise<boolean>;
  readonly limits?: Partial<ToolLimits>;
}

/** Tools that may change, such as those of `mcpTools`. */
export interface ToolSource {
  /** The current tools. */
  readonly tools: readonly Tool[];
}

/** Tools by name. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  readonly #sources: ToolSource[] = [];
  /** The time for timeouts and expiries. */
  readonly #clock: Clock;

  /** @throws OptionsError if two tools have the same name, or if one is a promise. */
  constructor(tools: Iterable<Tool | ToolSource>, clock: Clock) {
    if (typeof Object(tools)[Symbol.iterator] !== 'function')
      refuseArgument('ToolRegistry', 'a list of tools, such as [defineTool(…)]', tools);
    this.#clock = clock;
    for (const tool of tools) this.register(tool);
  }

  /**
   * Adds a tool, or a source whose changes the registry follows. If a later tool of a source has a taken name, the
   * earlier tool keeps it.
   * @throws OptionsError if a name is taken, or for a promise such as that of `mcpTools`.
   */
  register(added: Tool | ToolSource): this {
    if (added instanceof Promise) throw new OptionsError('ToolRegistry', ['a tool is a promise: await it']);
    for (const { name } of 'tools' in added ? added.tools : [added])
      if (this.get(name)) throw new OptionsError('ToolRegistry', [`the tool ${name} exists already`]);
    if ('tools' in added) this.#sources.push(added);
    else this.#tools.set(added.name, added);
    return this;
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name) ?? this.#fromSources().find((tool) => tool.name === name);
  }

  /** All tools: single ones in the order of their registration, then those of the sources. */
  list(): readonly Tool[] {
    const found = new Map(this.#tools);
    for (const tool of this.#fromSources()) if (!found.has(tool.name)) found.set(tool.name, tool);
    return [...found.values()];
  }

  #fromSources(): readonly Tool[] {
    return this.#sources.flatMap(({ tools }) => tools);
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
      const tool = this.get(name);
      if (!tool) throw new ToolError(`There is no tool ${name}.`, 'unknown_tool');
      const json = jsonInput(name, input, inputBytes);
      change({ input: json });
      const checked = await checkedInput(tool, cloneJson(json));
      if (await tool.asksApproval(checked, context)) {
        if (!(await approve?.(call))) throw new ToolError(`The call of ${name} was not approved.`, 'refused');
        change({ state: 'approved' });
      }
      change({ state: 'running' });
      const { value: output } = await runTool({
        tool,
        input: checked,
        context,
        mostBytes: outputBytes,
        clock: this.#clock,
      });
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
