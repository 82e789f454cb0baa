import type { JsonObject, JsonValue } from 'parley-a2a';
import { isObject } from 'parley-a2a/kit';
import { ToolError } from 'parley-a2a/tools';
import { shortenText } from './bounded-text.js';

const ERROR_LENGTH = 2_000;

/**
 * The result of a call for the agent: the structured content, else the text, else the list of content blocks.
 * @throws ToolError with the text of the server if the call failed there.
 */
export function callOutput(result: JsonObject, toolName: string): JsonValue {
  const { content, structuredContent, isError } = result;
  const blocks: readonly Record<string, unknown>[] = Array.isArray(content) ? content.filter(isObject) : [];
  const text = blocks.map((block) => (typeof block.text === 'string' ? block.text : '')).join('\n');
  if (isError === true) throw new ToolError(shortenText(text, ERROR_LENGTH) || `${toolName} failed.`);
  if (structuredContent !== undefined) return structuredContent;
  return blocks.every(({ type }) => type === 'text') ? text : (blocks as JsonValue);
}
