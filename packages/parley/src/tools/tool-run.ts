import { cloneJson } from '../model/clone-json.js';
import type { JsonValue } from '../model/json.js';
import { jsonFault } from '../model/json-fault.js';
import type { Message } from '../model/message.js';
import { ignoreRejection, SETTLED } from '../runtime/settled.js';
import type { EventQueue } from '../server/event-queue.js';
import type { RequestContext } from '../server/request-context.js';
import { waitingCalls } from './approval-decisions.js';
import { CallContext } from './call-context.js';
import { type FirstChange, RunCalls } from './run-calls.js';
import {
  AnswerNeededError,
  ApprovalNeededError,
  type AskedQuestion,
  type Tool,
  type ToolAnswer,
  type ToolCall,
  type ToolContext,
  ToolError,
  type ToolListener,
  type ToolQuestion,
} from './tool.js';
import {
  abortedCall,
  checkedInput,
  DEFAULT_TOOL_LIMITS,
  interruptedText,
  isLarger,
  isPromise,
  jsonInput,
  runTool,
  type ToolLimits,
  type ToolResult,
} from './tool-execution.js';
import { isFinished, isSameCall, isSameJson, outcomeOf, toldCall } from './tool-records.js';
import type { ToolRegistry } from './tool-registry.js';
import { untrustedSchema } from './untrusted-schema.js';

/** Options of the calls of a turn. */
export interface ToolRunOptions {
  readonly limits?: Partial<ToolLimits>;
  /** Called with each change of a call in this process. */
  readonly onEvent?: ToolListener;
}

/** Options of one call. */
export interface ToolCallOptions {
  /**
   * Identifies the call within its task, such as the id that a model gave it. Default: the number of the call in its
   * run. Code that may make its calls in another order after a restart must set it.
   */
  readonly id?: string;
}

/** Time within which a call of an idempotent tool ends with one record instead of two. */
const QUICK_MS = 20;

/** The sources of a run. */
interface ToolRunSources {
  readonly context: RequestContext;
  readonly events: EventQueue;
  readonly tools: ToolRegistry;
  readonly options: ToolRunOptions;
}

/**
 * The tool calls of one turn, recorded in the task. A finished call returns its recorded result, after a restart and in
 * the turn that answers an approval.
 */
export class ToolRun {
  readonly #sources: ToolRunSources;
  readonly #limits: ToolLimits;
  readonly #calls: RunCalls;
  readonly #active = new Map<string, ActiveCall>();
  readonly #places: (() => void)[] = [];
  #running = 0;
  #made = 0;
  /** Number of calls in the task so far. */
  #begun: number;

  constructor(sources: ToolRunSources) {
    this.#sources = sources;
    const { context, events, options } = sources;
    this.#limits = { ...DEFAULT_TOOL_LIMITS, ...options.limits };
    this.#calls = new RunCalls({ context, events, limits: this.#limits, onEvent: options.onEvent });
    this.#begun = this.#calls.earlier;
  }

  /** The message that began the run: the prompt, even if this turn has the answer to an approval. */
  get message(): Message {
    return this.#calls.message;
  }

  /** True if the message only answers calls that are not waiting, while others are. The question stays open. */
  get isStray(): boolean {
    return this.#calls.isStray;
  }

  /** The texts of the message that began the run, joined by a newline. */
  get text(): string {
    return this.message.parts.flatMap((part) => (part.text !== undefined ? [part.text] : [])).join('\n');
  }

  /** The calls of this run so far, including earlier turns and attempts. */
  get calls(): readonly ToolCall[] {
    return this.#calls.own().map(toldCall);
  }

  /** The calls that wait for an approval. */
  get waiting(): readonly ToolCall[] {
    return waitingCalls(this.#calls.own()).map(toldCall);
  }

  /**
   * Calls a tool, or returns the recorded result of the same call.
   * @throws ToolError if the call has no result, ApprovalNeededError if the owner must approve it first.
   */
  call<Input, Output>(tool: Tool<Input, Output>, input: Input, options?: ToolCallOptions): Promise<Output>;
  call(tool: string, input: unknown, options?: ToolCallOptions): Promise<JsonValue>;
  call(named: Tool | string, input: unknown, options: ToolCallOptions = {}): Promise<unknown> {
    const id = options.id ?? `${this.#calls.number}.${++this.#made}`;
    const name = typeof named === 'string' ? named : named.name;
    const read = this.#read(name, input);
    const active = this.#active.get(id);
    if (active) return active.isSame(name, read) ? active.result : ignoreRejection(Promise.reject(conflict(id)));
    const result = this.#start(id, name, read);
    const known = this.#calls.get(id);
    // A call that ended synchronously is found by its record.
    if (known !== undefined && isFinished(known)) return result;
    const end = () => void this.#active.delete(id);
    const isSame = (other: string, { input }: ReadInput) =>
      other === name && input !== undefined && read.input !== undefined && isSameJson(input, read.input);
    this.#active.set(id, { result, isSame });
    result.then(end, end);
    return result;
  }

  /**
   * Resumes the unfinished calls of this run with their recorded arguments, without a call of the model. Resolves to
   * all recorded calls of the run.
   * @throws ApprovalNeededError if a call still waits.
   */
  async resume(): Promise<readonly ToolCall[]> {
    const open = this.#calls.own().filter((call) => !isFinished(call));
    const results = await Promise.allSettled(open.map(({ id, tool, input }) => this.call(tool, input, { id })));
    for (const result of results) {
      if (result.status === 'rejected' && !(result.reason instanceof ToolError)) throw result.reason;
    }
    return this.calls;
  }

  /** Resolves when no call is running. */
  async settled(): Promise<void> {
    while (this.#active.size > 0) await Promise.allSettled([...this.#active.values()].map(({ result }) => result));
  }

  /** Asks the owner of the task for all waiting approvals and answers, which ends the turn. */
  async ask(): Promise<void> {
    await this.settled();
    // The guard of the queue adds the questions.
    if (!this.#calls.isOver && this.waiting.length > 0) await this.#sources.events.inputRequired();
  }

  /** Cancels the unfinished calls, because the task ends. */
  close(): void {
    this.#calls.close();
  }

  /** The answers from earlier runs of a call, for the same questions in a new run. Each is used once. */
  #asker(id: string, tool: string): (question: ToolQuestion) => ToolAnswer {
    const given = new Set<AskedQuestion>();
    return ({ message, schema }) => {
      const question: ToolQuestion = { message, ...(schema !== undefined && { schema }) };
      const asked = this.#calls.get(id)?.asked ?? [];
      const known = asked.find((one) => !given.has(one) && isSameJson(plain(one.question), plain(question)));
      if (known?.answer !== undefined) {
        given.add(known);
        return cloneJson(known.answer);
      }
      const { questionsPerCall, inputBytes } = this.#limits;
      if (asked.length >= questionsPerCall)
        throw new ToolError(`${tool} asked more than ${questionsPerCall} questions.`, 'limit');
      const isFit = jsonFault(question) === undefined && !isLarger(question, inputBytes);
      if (!isFit || (schema !== undefined && untrustedSchema(schema) === undefined))
        throw new ToolError(`${tool} asked a question that is too large, or no JSON.`, 'limit');
      throw new AnswerNeededError(question);
    };
  }

  #start(id: string, name: string, read: ReadInput): Promise<JsonValue> {
    try {
      const known = this.#calls.get(id);
      if (known !== undefined && !isSameCall(known, name, read.input)) throw conflict(id);
      if (known !== undefined && isFinished(known)) return Promise.resolve(cloneJson(outcomeOf(known)));
      if (this.#calls.isOver) throw abortedCall(name);
      if (known === undefined && ++this.#begun > this.#limits.callsPerTask) {
        throw new ToolError(`The task has ${this.#limits.callsPerTask} calls already.`, 'limit');
      }
      return this.#perform({ id, name, isKnown: known !== undefined }, read);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #read(name: string, input: unknown): ReadInput {
    try {
      return { input: jsonInput(name, input, this.#limits.inputBytes) };
    } catch (error) {
      if (error instanceof ToolError) return { error };
      throw error;
    }
  }

  /** Makes a call. A new call whose schema and tool are synchronous is recorded before this returns. */
  #perform(call: BegunCall, read: ReadInput): Promise<JsonValue> {
    const failed = (error: unknown) => this.#recordFailure(call, read, error);
    try {
      const { tools, context } = this.#sources;
      const tool = tools.get(call.name);
      if (!tool) throw new ToolError(`There is no tool ${call.name}.`, 'unknown_tool');
      if (read.input === undefined) throw read.error;
      const value = checkedInput(tool, cloneJson(read.input));
      const callContext = new CallContext(call.id, context, () => this.#asker(call.id, call.name));
      if (call.isKnown || tool.needsApproval || isPromise(value))
        return this.#performLater({ tool, value, callContext, ...call }, read.input).then(outputIn, failed);
      const result = this.#run({ tool, value, callContext }, this.#calls.first(read.input));
      return result instanceof Promise ? result.then(outputIn, failed) : Promise.resolve(result.value);
    } catch (error) {
      return failed(error);
    }
  }

  /** Makes a call that is recorded already, that may need an approval, or whose schema is async. */
  async #performLater(
    { id, name, isKnown, tool, ...checked }: BegunCall & CheckedCall,
    input: JsonValue,
  ): Promise<ToolResult> {
    const run = { tool, callContext: checked.callContext, value: await checked.value };
    if (!isKnown) {
      const first = this.#calls.first(input);
      if (!tool.needsApproval || !(await asks(tool, run.value, run.callContext))) return this.#run(run, first);
      throw this.#calls.waitForApproval({ id, tool: name }, first);
    }
    const call = this.#calls.get(id);
    if (call?.state === 'requested') throw new ApprovalNeededError(toldCall(call));
    if (call?.state === 'running' && !tool.idempotent) {
      throw new ToolError(interruptedText(name), 'interrupted');
    }
    return this.#run(run, undefined);
  }

  async #recordFailure({ id, name }: BegunCall, read: ReadInput, error: unknown): Promise<never> {
    // The next attempt of the turn decides about running calls.
    if (!(error instanceof ToolError) || this.#sources.context.signal.aborted || this.#calls.isOver) throw error;
    const { reason, message } = error;
    // Arguments that are no JSON, or too large, are not recorded.
    const input = read.input === undefined ? {} : { input: read.input };
    const first = this.#calls.get(id) === undefined ? { run: this.#calls.number, ...input } : {};
    await this.#calls.record({ id, tool: name, state: 'failed', ...first, failure: { reason, message } });
    throw error;
  }

  /** Runs a call when there is a place for it. Synchronous if its result is known and recorded at once. */
  #run(checked: CheckedCall, first: FirstChange | undefined): ToolResult | Promise<ToolResult> {
    if (this.#running >= this.#limits.parallelCalls) {
      return new Promise<void>((resolve) => void this.#places.push(resolve)).then(() => this.#run(checked, first));
    }
    const { tool, callContext } = checked;
    if (this.#calls.isOver) {
      this.#places.shift()?.();
      throw abortedCall(tool.name);
    }
    this.#running += 1;
    const leave = (result: ToolResult) => {
      this.#running -= 1;
      this.#places.shift()?.();
      return result;
    };
    const failed = (error: unknown): never => {
      leave(NO_RESULT);
      if (!(error instanceof AnswerNeededError) || callContext.signal.aborted) throw error;
      const call = { id: callContext.callId, tool: tool.name };
      throw this.#calls.waitForAnswer(call, error.question, this.#calls.get(call.id) === undefined ? first : undefined);
    };
    try {
      const result = tool.idempotent ? this.#runIdempotent(checked, first) : this.#runOnce(checked, first);
      return result instanceof Promise ? result.then(leave, failed) : leave(result);
    } catch (error) {
      return failed(error);
    }
  }

  /** Runs a call that is recorded before it starts, so that no process repeats it. */
  async #runOnce({ tool, value, callContext }: CheckedCall, first: FirstChange | undefined): Promise<ToolResult> {
    const { context, events } = this.#sources;
    const call = { id: callContext.callId, tool: tool.name };
    ignoreRejection(this.#calls.record({ ...call, state: 'running', ...first }));
    await events.flush();
    const mostBytes = this.#limits.outputBytes;
    const result = await runTool({ tool, input: value, context: callContext, mostBytes, clock: context.clock });
    // The result is in the next commit. If the process dies before, the outcome is unknown.
    await this.#calls.record({ ...call, state: 'succeeded', output: result.copy });
    return result;
  }

  /** Runs a call with a single record, if it is quick. */
  #runIdempotent({ tool, value, callContext }: CheckedCall, first: FirstChange | undefined) {
    const call = { id: callContext.callId, tool: tool.name };
    let isRecorded = false;
    const tell = () => {
      isRecorded = true;
      ignoreRejection(this.#calls.record({ ...call, state: 'running', ...first }));
    };
    const endCall = (result: ToolResult): ToolResult | Promise<ToolResult> => {
      const end = { state: 'succeeded', output: result.copy } as const;
      // Not spread: several spreads take longer than most tools.
      const room = this.#calls.record(
        first === undefined || isRecorded
          ? { ...call, ...end }
          : { id: call.id, tool: call.tool, state: end.state, run: first.run, input: first.input, output: end.output },
      );
      return room === SETTLED ? result : room.then(() => result);
    };
    const [mostBytes, { clock }] = [this.#limits.outputBytes, this.#sources.context];
    const whenSlow = { ms: QUICK_MS, tell };
    const result = runTool({ tool, input: value, context: callContext, mostBytes, clock, whenSlow });
    return result instanceof Promise ? result.then(endCall) : endCall(result);
  }
}

const NO_RESULT: ToolResult = { value: null, copy: null };

function outputIn({ value }: ToolResult): JsonValue {
  return value;
}

/** The arguments of a call, or the reason why they are refused. */
type ReadInput = { readonly input: JsonValue } | { readonly input?: undefined; readonly error: ToolError };

/** A running call. */
interface ActiveCall {
  readonly result: Promise<JsonValue>;
  readonly isSame: (name: string, read: ReadInput) => boolean;
}

/** A call that is ready to run. `value`: the validated arguments. */
interface CheckedCall {
  readonly tool: Tool;
  readonly value: unknown;
  readonly callContext: CallContext;
}

interface BegunCall {
  readonly id: string;
  readonly name: string;
  /** True if the task has recorded the call. */
  readonly isKnown: boolean;
}

async function asks(tool: Tool, value: unknown, context: ToolContext): Promise<boolean> {
  try {
    return await tool.asksApproval(value, context);
  } catch (error) {
    throw new ToolError(`The approval rule of ${tool.name} failed.`, 'threw', { cause: error });
  }
}

function conflict(id: string): ToolError {
  return new ToolError(`The call ${id} was recorded with another tool or other arguments.`, 'conflict');
}

function plain(question: ToolQuestion): JsonValue {
  return cloneJson(question) as unknown as JsonValue;
}
