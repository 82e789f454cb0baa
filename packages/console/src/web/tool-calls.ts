import type { Artifact, Part } from 'parley-a2a';
import { isObject } from './questions.js';

const TOOLS_EXTENSION = 'urn:parley-a2a:extension:tools:v1';
/** Clients that declare this extension get the reasoning of a model, if the agent offers it. */
export const MODEL_OUTPUT_EXTENSION = 'urn:parley-a2a:extension:model-output:v1';

/** A call of a tool in its last state. */
export interface ShownCall {
  readonly id: string;
  readonly tool: string;
  readonly state: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly failure?: unknown;
}

/** True for the artifact that records the calls of tools. */
export function recordsCalls({ artifactId, extensions }: Artifact): boolean {
  return artifactId === 'tool-calls' && extensions?.includes(TOOLS_EXTENSION) === true;
}

/** True for the reasoning of a model. */
export function isReasoning({ metadata, name }: Artifact): boolean {
  const marks = metadata?.[MODEL_OUTPUT_EXTENSION];
  return (isObject(marks) && marks.content === 'reasoning') || name === 'reasoning';
}

/** The calls that parts record, in the order of their first record. */
export function callsIn(parts: readonly Part[]): readonly ShownCall[] {
  const calls = new Map<string, ShownCall>();
  for (const part of parts) {
    const call = part.data !== undefined && isObject(part.data) ? part.data.toolCall : undefined;
    if (!isObject(call)) continue;
    const { id, tool, state } = call;
    if (typeof id !== 'string' || typeof tool !== 'string' || typeof state !== 'string') continue;
    calls.set(id, { ...calls.get(id), ...call, id, tool, state });
  }
  return [...calls.values()];
}
