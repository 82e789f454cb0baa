import type { Tool } from '../tools/tool.js';
import { ToolRegistry as Registry, type ToolSource } from '../tools/tool-registry.js';
import { systemClock } from './runtime.js';

export { OptionsError } from '../errors/options-error.js';
export type { JsonObject, JsonValue } from '../model/json.js';
export type { InputOf, OutputOf, StandardSchema } from '../model/standard-schema.js';
export { type JsonSchemaOptions, jsonSchema } from '../tools/json-schema.js';
export {
  AnswerNeededError,
  ApprovalNeededError,
  type ApprovalRule,
  defineTool,
  type Tool,
  type ToolAnswer,
  type ToolCall,
  type ToolCallState,
  type ToolContext,
  ToolError,
  type ToolEvent,
  type ToolFailure,
  type ToolFailureReason,
  type ToolListener,
  type ToolOptions,
  type ToolQuestion,
} from '../tools/tool.js';
export { runTools, type ToolTurn, toolAgent } from '../tools/tool-agent.js';
export {
  type ApprovalMessage,
  answerApprovals,
  type ToolApproval,
  type ToolDecision,
  toolApprovals,
} from '../tools/tool-approvals.js';
export { DEFAULT_TOOL_LIMITS, type ToolLimits } from '../tools/tool-execution.js';
export { answerQuestion, toolQuestions, type WaitingQuestion } from '../tools/tool-questions.js';
export { TOOLS_CARD_EXTENSION, TOOLS_EXTENSION, toolCalls, toolEventsOf } from '../tools/tool-records.js';
export type { ExecuteOptions, ToolSource } from '../tools/tool-registry.js';
export type {
  ToolCallOptions,
  ToolRun,
  ToolRunOptions,
} from '../tools/tool-run.js';

/** Tools by name. */
export class ToolRegistry extends Registry {
  /** @throws OptionsError if two tools have the same name. */
  constructor(tools: Iterable<Tool | ToolSource> = []) {
    super(tools, systemClock);
  }
}
