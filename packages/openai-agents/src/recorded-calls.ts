import {
  type AgentInputItem,
  defineToolInputGuardrail,
  defineToolOutputGuardrail,
  type FunctionCallItem,
  type RunContext,
  type Tool,
  ToolGuardrailFunctionOutputFactory,
} from '@openai/agents';
import type { JsonObject, JsonValue } from 'parley-a2a';
import { interruptedText, isObject, OptionsError } from 'parley-a2a/kit';
import type { AnyOpenAIAgent } from './openai-agent.js';
import type { RunAgents } from './run-agents.js';

/** A call of a tool that must not be repeated. `output`: its result as text, if it has ended. */
export interface MadeCall {
  readonly callId: string;
  readonly name: string;
  readonly namespace?: string;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
  readonly output?: string;
}

/** Records the calls of one run. A call awaits `begin`, and its result awaits `end`. */
interface CallRecorder {
  /** True if the tool may run twice. */
  isIdempotent(tool: string): boolean;
  begin(call: MadeCall): Promise<void>;
  end(callId: string, output: string): Promise<void>;
}

/** The recorders of running runs, by the contexts that the SDK passes to guardrails. */
const RECORDERS = new WeakMap<object, { readonly recorder: CallRecorder; readonly agents: RunAgents }>();

/** Starts to record the calls of a run. Calls within nested runs of other agents are part of their outer call. */
export function recordCalls(context: RunContext<unknown>, agents: RunAgents, recorder: CallRecorder): void {
  RECORDERS.set(context, { recorder, agents });
}

function recorderOf({ context, agent, toolCall }: GuardedCall): CallRecorder | undefined {
  const found = RECORDERS.get(context);
  if (found === undefined || found.agents.get(agent.name) !== agent) return undefined;
  return found.recorder.isIdempotent(toolCall.name) ? undefined : found.recorder;
}

interface GuardedCall {
  readonly context: RunContext<unknown>;
  readonly agent: AnyOpenAIAgent;
  readonly toolCall: FunctionCallItem;
}

const NAME = 'recorded call';
const ALLOWED = ToolGuardrailFunctionOutputFactory.allow();

/** The SDK awaits guardrails right before a call of a tool, and right after it. */
const BEFORE = defineToolInputGuardrail({
  name: NAME,
  run: async (data) => {
    const { callId, name, namespace, arguments: text } = data.toolCall;
    const call = { callId, name, arguments: text, ...(namespace !== undefined && { namespace }) };
    await recorderOf(data)?.begin(call);
    return ALLOWED;
  },
});
const AFTER = defineToolOutputGuardrail({
  name: NAME,
  run: async (data) => {
    const { output, toolCall } = data;
    const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? String(output));
    await recorderOf(data)?.end(toolCall.callId, text);
    return ALLOWED;
  },
});

const GUARDED = new WeakSet<object>();

/**
 * Adds guardrails to the tools of agents, those of MCP servers too. In runs that are not recorded they do nothing.
 * @throws OptionsError for a tool that the SDK runs without guardrails, unless it is idempotent.
 */
export function guardTools(agents: RunAgents, isIdempotent: (tool: string) => boolean): void {
  for (const agent of agents.values()) {
    for (const { type, name } of agent.tools) {
      if (type === 'function' || type === 'hosted_tool' || isIdempotent(name)) continue;
      const problem = `resumable: no call of ${name} is known after a crash. Name it in idempotent, or leave resumable out`;
      throw new OptionsError('openAIAgent', [problem]);
    }
    if (GUARDED.has(agent)) continue;
    GUARDED.add(agent);
    const { getAllTools } = agent;
    agent.getAllTools = async (...args) => addGuardrails(await getAllTools.apply(agent, args));
  }
}

/** The guardrails of the application come first, so that a call that they refuse is not recorded. */
function addGuardrails<Tools extends readonly Tool<unknown>[]>(tools: Tools): Tools {
  for (const tool of tools) {
    if (tool.type !== 'function' || GUARDED.has(tool)) continue;
    GUARDED.add(tool);
    tool.inputGuardrails = [...(tool.inputGuardrails ?? []), BEFORE];
    tool.outputGuardrails = [...(tool.outputGuardrails ?? []), AFTER];
  }
  return tools;
}

/** The result of a call for the model; for an unfinished call, a text about the interruption. */
export function outputOf({ name, output }: MadeCall): string {
  return output ?? interruptedText(name);
}

/** Calls and their results as items for the model. */
export function itemsOf(calls: readonly MadeCall[]): AgentInputItem[] {
  return calls.flatMap((made): AgentInputItem[] => {
    const { output: _, ...call } = made;
    const { callId, name, namespace } = call;
    const result = { callId, name, ...(namespace !== undefined && { namespace }) };
    return [
      { type: 'function_call', status: 'completed', ...call },
      {
        type: 'function_call_result',
        status: 'completed',
        ...result,
        output: { type: 'text', text: outputOf(made) },
      },
    ];
  });
}

/** Parses calls from a checkpoint. */
export function keptCalls(value: JsonValue | undefined): readonly MadeCall[] {
  return Array.isArray(value) ? value.filter(isMadeCall) : [];
}

function isMadeCall(value: unknown): value is MadeCall & JsonObject {
  return isObject(value) && [value.callId, value.name, value.arguments].every((member) => typeof member === 'string');
}
