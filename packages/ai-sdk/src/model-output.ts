import type { Artifact, JsonObject, JsonValue } from 'parley-a2a';
import { isObject, jsonFault, TOOLS_EXTENSION } from 'parley-a2a/kit';

/**
 * The metadata key with the output of a model: steps, tool calls, sources, reasoning and tokens. A client that declares
 * this extension also gets the reasoning, if the card of the agent offers the extension.
 */
export const MODEL_OUTPUT_EXTENSION = 'urn:parley-a2a:extension:model-output:v1';

/** The kind of an artifact that a model produced beside its answer. */
export type ModelContent = 'reasoning' | 'sources' | 'file';

/** Metadata under the key of the extension. */
export function modelMetadata(members: JsonObject): JsonObject {
  return { [MODEL_OUTPUT_EXTENSION]: members };
}

/** The kind that an artifact is marked with; undefined for the answer and for artifacts of other origin. */
export function modelContentOf({ metadata }: Artifact): string | undefined {
  const marks = metadata?.[MODEL_OUTPUT_EXTENSION];
  return isObject(marks) && typeof marks.content === 'string' ? marks.content : undefined;
}

/** True if an artifact or a message is about the calls of tools. */
export function isOfTools(content: { readonly extensions?: readonly string[] } | undefined): boolean {
  return content?.extensions?.includes(TOOLS_EXTENSION) === true;
}

/** Maximum bytes of one input or one result of a tool in an event. */
const SHOWN_BYTES = 65_536;
const NOT_JSON = '[not JSON]';

/** A value of a tool as JSON. A value that is no JSON, or has more than 64 KiB, becomes a text that says so. */
export function shownValue(value: unknown): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_, member: unknown) => (typeof member === 'string' ? member.toWellFormed() : member));
  } catch {
    return NOT_JSON;
  }
  if (text === undefined) return null;
  if (text.length > SHOWN_BYTES) return `${text.slice(0, SHOWN_BYTES).toWellFormed()}… [cut off]`;
  const shown = JSON.parse(text) as JsonValue;
  return jsonFault(shown) === undefined ? shown : NOT_JSON;
}
