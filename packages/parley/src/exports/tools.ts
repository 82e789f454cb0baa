import type { Tool } from '../tools/tool.js';
import { ToolRegistry as Registry } from '../tools/tool-registry.js';
import { systemClock } from './runtime.js';

export { OptionsError } from '../errors/options-error.js';
export type { JsonObject, JsonValue } from '../model/json.js';
export type { InputOf, OutputOf, StandardSchema } from '../model/standard-schema.js';
export { type JsonSchemaOptions, jsonSchema } from '../tools/json-schema.js';
export {
  type ApprovalRule,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolCallState,
  type ToolContext,
  ToolError,
  type ToolEvent,
  type ToolFailure,
  type ToolFailureReason,
  type ToolListener,
  type ToolOptions,
} from '../tools/tool.js';
export { DEFAULT_TOOL_LIMITS, type ToolLimits } from '../tools/tool-execution.js';
export type { ExecuteOptions } from '../tools/tool-registry.js';

/** Tools by name. */
export class ToolRegistry extends Registry {
  /** @throws OptionsError if two tools have the same name. */
  constructor(tools: Iterable<Tool> = []) {
    super(tools, systemClock);
  }
}
