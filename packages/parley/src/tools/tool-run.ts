import { canonicalJson } from '../model/canonical-json.js';
import { cloneJson } from '../model/clone-json.js';
import type { JsonValue } from '../model/json.js';
import { jsonFault } from '../model/json-fault.js';
import type { Message } from '../model/message.js';
import type { Clock } from '../runtime/clock.js';
import { ignoreRejection } from '../runtime/settled.js';
import type { EventQueue } from '../server/event-queue.js';
import type { RequestContext } from '../server/request-context.js';
import {
  type Tool,
  type ToolCall,
  type ToolContext,
  ToolError,
  type ToolFailureReason,
  type ToolListener,
} from './tool.js';
import { approvalQuestion, decisionsIn, type ToolApproval } from './tool-approvals.js';
import { checkedInput, DEFAULT_TOOL_LIMITS, runTool, type ToolLimits } from './tool-execution.js';
import {
  type CallChange,
  isFinished,
  nextCall,
  publicCall,
  type RecordedCall,
  recordedCalls,
  recordPart,
  TOOLS_ARTIFACT,
} from './tool-records.js';
import type { ToolRegistry } from './tool-registry.js';

/** Options of the calls of a turn. */
export interface ToolRunOptions {
  readonly limits?: Partial<ToolLimits>;
  /** Hears each change of a call in this process. */
  readonly onEvent?: ToolListener;
}

/** Options of one call. */
export interface CallOptions {
  /**
   * Names the call within its task, such as the id that a model gave it. Default: the number of the call in its run.
   * Code that makes its calls in another order after a restart must name them.
   */
  readonly id?: string;
}

/** The call waits for the owner of the task. `runTools` asks for the approval once the agent has returned. */
export class ApprovalNeededError extends Error {
  override readonly name = 'ApprovalNeededError';
  readonly call: ToolCall;

  constructor(call: ToolCall) {
    super(`The call ${call.id} of ${call.tool} needs an approval.`);
    this.call = call;
  }
}

/** A quick call of an idempotent tool takes one record and not two. */
const QUICK_MS = 20;

/** The sources of a run. */
interface ToolRunSources {
  readonly context: RequestContext;
  readonly events: EventQueue;
  readonly tools: ToolRegistry;
  readonly clock: Clock;
  readonly options: ToolRunOptions;
}

/**
 * The tool calls of one turn, recorded in the task. A call that the task records as finished gives its recorded result,
 * after a restart and in the turn that answers a question for approval.
 */
export class ToolRun {
  readonly #sources: ToolRunSources;
  readonly #limits: ToolLimits;
  readonly #calls: Map<string, RecordedCall>;
  readonly #number: number;
  readonly #active = new Map<string, Promise<JsonValue>>();
  readonly #places: (() => void)[] = [];
  #running = 0;
  #made = 0;
  /** Calls of the task so far. */
  #begun: number;
  #hasArtifact: boolean;
  /** True if the task records a call of this run. */
  #isBegun = true;
  /** The message that began the run: the prompt, also if this turn has the answer to a question for approval. */
  readonly message: Message;

  constructor(sources: ToolRunSources) {
    this.#sources = sources;
    this.#limits = { ...DEFAULT_TOOL_LIMITS, ...sources.options.limits };
    const { context } = sources;
    const { message } = context;
    this.#calls = recordedCalls(context.task);
    this.#begun = this.#calls.size;
    this.#hasArtifact = this.#calls.size > 0;
    const last = Math.max(0, ...[...this.#calls.values()].map(({ run }) => run));
    const repeated = [...this.#calls.values()].find(({ messageIds }) => messageIds.includes(message.messageId));
    const answersLast = repeated === undefined && this.#decide(message, last);
    this.#number = repeated?.run ?? (answersLast ? last : last + 1);
    const firstId = this.#own()[0]?.messageIds[0];
    this.#isBegun = firstId !== undefined;
    this.message = context.history.find(({ messageId }) => messageId === firstId) ?? message;
  }

  /** The texts of the message that began the run, joined by a newline. */
  get text(): string {
    return this.message.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
  }

  /** The calls of this run so far, also those of earlier turns and attempts. */
  get calls(): readonly ToolCall[] {
    return this.#own().map(publicCall);
  }

  /** The calls that wait for an approval. */
  get waiting(): readonly ToolCall[] {
    return this.#waiting().map(publicCall);
  }

  /**
   * Calls a tool, or gives the recorded result of the same call.
   * @throws ToolError if the call has no result, ApprovalNeededError if the owner must approve it first.
   */
  call<Input, Output>(tool: Tool<Input, Output>, input: Input, options?: CallOptions): Promise<Output>;
  call(tool: string, input: unknown, options?: CallOptions): Promise<JsonValue>;
  call(named: Tool | string, input: unknown, options: CallOptions = {}): Promise<unknown> {
    const id = options.id ?? `${this.#number}.${++this.#made}`;
    const active = this.#active.get(id);
    if (active) return active;
    const call = this.#perform(id, typeof named === 'string' ? named : named.name, input).finally(() => {
      this.#active.delete(id);
    });
    this.#active.set(id, call);
    return ignoreRejection(call);
  }

  /**
   * Goes on with the unfinished calls of this run, on their recorded arguments, without asking a model again. Resolves
   * to all calls of the run. Calls that the run has not made yet are not there.
   * @throws ApprovalNeededError if a call still waits.
   */
  async resume(): Promise<readonly ToolCall[]> {
    const open = this.#own().filter((call) => !isFinished(call));
    const results = await Promise.allSettled(open.map(({ id, tool, input }) => this.call(tool, input, { id })));
    for (const result of results) {
      if (result.status === 'rejected' && !(result.reason instanceof ToolError)) throw result.reason;
    }
    return this.calls;
  }

  /** Resolves when no call is under way. */
  async settled(): Promise<void> {
    while (this.#active.size > 0) await Promise.allSettled(this.#active.values());
  }

  /** Asks the owner of the task for all waiting approvals. Ends the turn. */
  async ask(): Promise<void> {
    await this.settled();
    const approvals = this.#waiting().map(
      ({ id, tool, input = null, expiresAt = '' }): ToolApproval => ({ callId: id, tool, input, expiresAt }),
    );
    if (approvals.length > 0) await this.#sources.events.inputRequired(approvalQuestion(approvals));
  }

  #own(): readonly RecordedCall[] {
    return [...this.#calls.values()].filter(({ run }) => run === this.#number);
  }

  #waiting(): readonly RecordedCall[] {
    return this.#own().filter(({ state, expiresAt }) => state === 'requested' && expiresAt !== undefined);
  }

  /** Records the answers of the message to the waiting calls of a run. True if it answers one of them. */
  #decide({ messageId, parts }: Message, run: number): boolean {
    const waiting = [...this.#calls.values()].filter((call) => call.run === run && call.state === 'requested');
    const decisions = decisionsIn(
      parts,
      waiting.map(({ id }) => id),
    );
    for (const call of waiting) {
      const { id, tool, expiresAt } = call;
      const answer = decisions.get(id);
      if (answer === undefined && decisions.size > 0) continue;
      const messageIds = answer === undefined ? call.messageIds : [...call.messageIds, messageId];
      if (answer?.decision === 'approve' && !this.#isExpired(expiresAt)) {
        this.#record({ id, tool, state: 'approved', messageIds });
      } else this.#record({ id, tool, state: 'refused', messageIds, failure: refusal(answer) });
    }
    return decisions.size > 0;
  }

  #isExpired(expiresAt: string | undefined): boolean {
    return expiresAt !== undefined && this.#sources.clock.now() > Date.parse(expiresAt);
  }

  async #perform(id: string, name: string, input: unknown): Promise<JsonValue> {
    const { tools, context } = this.#sources;
    const known = this.#calls.get(id);
    const fault = jsonFault(input);
    if (known !== undefined && (fault !== undefined || !isSameCall(known, name, input as JsonValue))) {
      throw new ToolError(`The call ${id} was recorded with another tool or other arguments.`, 'conflict');
    }
    if (known !== undefined && isFinished(known)) return outcomeOf(known);
    if (known === undefined && ++this.#begun > this.#limits.callsPerTask) {
      throw new ToolError(`The task has ${this.#limits.callsPerTask} calls already.`, 'limit');
    }
    const tool = tools.get(name);
    const { signal } = context;
    let isChecked = false;
    const callContext: ToolContext = {
      callId: id,
      signal,
      taskId: context.taskId,
      contextId: context.contextId,
      user: context.user,
      tenant: context.tenant,
    };
    try {
      if (!tool) throw new ToolError(`There is no tool ${name}.`, 'unknown_tool');
      const value = await checkedInput(tool, input, this.#limits.inputBytes);
      isChecked = true;
      if (known === undefined) {
        const first = { ...this.#first(), input: cloneJson(input as JsonValue) };
        if (await asks(tool, value, callContext)) {
          const expiresAt = new Date(this.#sources.clock.now() + this.#limits.approvalMs).toISOString();
          this.#record({ id, tool: name, state: 'requested', ...first, expiresAt });
        } else return await this.#run(tool, value, callContext, first);
      }
      const call = this.#calls.get(id);
      if (call?.state === 'requested') throw new ApprovalNeededError(publicCall(call));
      if (call?.state === 'running' && !tool.idempotent) {
        throw new ToolError(`${name} was interrupted, and must not run again. Its effect is not known.`, 'interrupted');
      }
      return await this.#run(tool, value, callContext, {});
    } catch (error) {
      // The next attempt of the turn decides about calls that were under way.
      if (!(error instanceof ToolError) || signal.aborted) throw error;
      const { reason, message } = error;
      // Arguments that are no JSON, or too large, are not recorded.
      const isRecordable = isChecked || (fault === undefined && reason !== 'limit');
      const first = this.#calls.has(id)
        ? {}
        : { ...this.#first(), ...(isRecordable && { input: cloneJson(input as JsonValue) }) };
      await this.#record({ id, tool: name, state: 'failed', ...first, failure: { reason, message } });
      throw error;
    }
  }

  async #run(tool: Tool, input: unknown, context: ToolContext, first: Partial<CallChange>): Promise<JsonValue> {
    const { clock, events } = this.#sources;
    const call = { id: context.callId, tool: tool.name };
    const mostBytes = this.#limits.outputBytes;
    await this.#place();
    try {
      if (!tool.idempotent) {
        this.#record({ ...call, state: 'running', ...first });
        // The run must be known before it begins: another process must not repeat it.
        await events.flush();
        const output = await runTool({ tool, input, context, mostBytes, clock });
        await this.#record({ ...call, state: 'succeeded', output });
        return output;
      }
      let isRecorded = false;
      const tell = () => {
        isRecorded = true;
        this.#record({ ...call, state: 'running', ...first });
      };
      const whenSlow = { ms: QUICK_MS, tell };
      const output = await runTool({ tool, input, context, mostBytes, clock, whenSlow });
      await this.#record({ ...call, state: 'succeeded', ...(!isRecorded && first), output });
      return output;
    } finally {
      this.#running -= 1;
      this.#places.shift()?.();
    }
  }

  /** Waits until fewer calls run than the limit. */
  async #place(): Promise<void> {
    while (this.#running >= this.#limits.parallelCalls) {
      await new Promise<void>((resolve) => void this.#places.push(resolve));
    }
    this.#running += 1;
  }

  #first(): Pick<RecordedCall, 'run' | 'messageIds'> {
    return { run: this.#number, messageIds: [this.message.messageId] };
  }

  #record(change: CallChange): Promise<void> {
    const call = nextCall(this.#calls.get(change.id), change);
    if (call === undefined) throw new Error(`The call ${change.id} cannot become ${change.state}`);
    this.#calls.set(call.id, call);
    const { events, context, options } = this.#sources;
    const { taskId, contextId } = context;
    options.onEvent?.({ taskId, contextId, call: publicCall(call) });
    const { messageIds, ...rest } = change;
    // Only the first call of a run tells the message that began it.
    const isKnown = messageIds?.length === 1 && this.#isBegun;
    this.#isBegun = true;
    const part = recordPart(isKnown ? rest : change);
    if (this.#hasArtifact) return ignoreRejection(events.append(TOOLS_ARTIFACT.artifactId, part));
    this.#hasArtifact = true;
    return ignoreRejection(events.artifact(part, TOOLS_ARTIFACT).then(() => {}));
  }
}

/**
 * Runs the body of an agent with tools whose calls are recorded in its task. If a call needs an approval, the task asks
 * its owner, and the turn ends. The body runs again on the answer, and must make the same calls, or `resume` them. A
 * body must not end the task while calls wait. A `ToolError` that it throws fails the task with its message.
 */
export async function runTools(
  context: RequestContext,
  events: EventQueue,
  tools: ToolRegistry,
  body: (run: ToolRun) => Promise<void> | void,
  options: ToolRunOptions = {},
): Promise<void> {
  const run = new ToolRun({ context, events, tools, clock: tools.clock, options });
  try {
    await body(run);
  } catch (error) {
    // The engine ends a turn that was told to stop.
    if (error instanceof ToolError) return context.signal.aborted ? undefined : await events.fail(error.message);
    if (!(error instanceof ApprovalNeededError)) throw error;
  }
  await run.ask();
}

async function asks(tool: Tool, value: unknown, context: ToolContext): Promise<boolean> {
  try {
    return tool.needsApproval && (await tool.asksApproval(value, context));
  } catch (error) {
    throw new ToolError(`The approval rule of ${tool.name} failed.`, 'threw', { cause: error });
  }
}

function isSameCall({ tool, input }: RecordedCall, name: string, other: JsonValue): boolean {
  // Arguments that were too large to record cannot be compared.
  return tool === name && (input === undefined || canonicalJson(input) === canonicalJson(cloneJson(other)));
}

function outcomeOf({ output = null, failure, state, tool }: RecordedCall): JsonValue {
  if (state === 'succeeded') return output;
  throw new ToolError(failure?.message ?? `${tool} failed.`, failure?.reason ?? 'threw');
}

function refusal(answer: { readonly decision: string; readonly reason?: string } | undefined): {
  readonly reason: ToolFailureReason;
  readonly message: string;
} {
  if (answer === undefined) return { reason: 'superseded', message: 'Another message came instead of an approval.' };
  if (answer.decision === 'approve') return { reason: 'expired', message: 'The approval came too late.' };
  const { reason } = answer;
  return { reason: 'refused', message: `The call was refused${reason === undefined ? '.' : `: ${reason}`}` };
}
