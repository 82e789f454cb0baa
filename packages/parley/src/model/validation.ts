import type { AgentCard } from './agent-card.js';
import type { Artifact } from './artifact.js';
import type { Message } from './message.js';
import type { Part } from './part.js';
import type { StreamResponse } from './stream-response.js';
import type { Task } from './task.js';
import { COMPILED, type ModelTypes } from './validators.generated.js';
import { violationsOf } from './violations.js';

export type { Violation } from './violations.js';
export { type ModelTypes, violationsOf };

/** The name of a type with a validator. */
export type ModelTypeName = keyof ModelTypes;

/**
 * True if a value is exactly of a type: exact member names, no unknown members outside free objects, one content per
 * part. `violationsOf` tells the faults.
 */
export function isValid<Name extends ModelTypeName>(type: Name, value: unknown): value is ModelTypes[Name] {
  const compiled: ((value: unknown) => boolean) | undefined =
    type in COMPILED ? COMPILED[type as keyof typeof COMPILED] : undefined;
  return compiled === undefined ? violationsOf(type, value).length === 0 : compiled(value);
}

/** True if a value is one event of a stream (Spec §3.2.3). */
export const isStreamResponse: (value: unknown) => value is StreamResponse = COMPILED.StreamResponse;

/** True if a value is a task (Spec §4.1.1). */
export const isTask: (value: unknown) => value is Task = COMPILED.Task;

/** True if a value is a message (Spec §4.1.4). */
export const isMessage: (value: unknown) => value is Message = COMPILED.Message;

/** True if a value is a part (Spec §4.1.6). */
export const isPart: (value: unknown) => value is Part = COMPILED.Part;

/** True if a value is an artifact (Spec §4.1.7). */
export const isArtifact: (value: unknown) => value is Artifact = COMPILED.Artifact;

/** True if a value is an agent card (Spec §4.4.1). */
export function isAgentCard(value: unknown): value is AgentCard {
  return isValid('AgentCard', value);
}
