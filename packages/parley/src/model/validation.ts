import type { AgentCard } from './agent-card.js';
import type { Artifact } from './artifact.js';
import type { Message } from './message.js';
import type { Part } from './part.js';
import type { StreamResponse } from './stream-response.js';
import type { Task } from './task.js';
import { type ModelTypes, VALIDATORS } from './validators.generated.js';

export { type Violation, violationsOf } from './violations.js';
export type { ModelTypes };

/** The name of a type that can be validated as a whole. */
export type ModelTypeName = keyof ModelTypes;

/**
 * Whether a value is exactly of a type: the closed form with exact member names, no unknown members outside free objects and
 * exactly one content per part. What is wrong with it is told by `violationsOf`.
 */
export function isValid<Name extends ModelTypeName>(type: Name, value: unknown): value is ModelTypes[Name] {
  return VALIDATORS[type](value);
}

/** Whether a value is one event of a stream (spec §3.2.3). */
export const isStreamResponse: (value: unknown) => value is StreamResponse = VALIDATORS.StreamResponse;

/** Whether a value is a task (spec §4.1.1). */
export const isTask: (value: unknown) => value is Task = VALIDATORS.Task;

/** Whether a value is a message (spec §4.1.4). */
export const isMessage: (value: unknown) => value is Message = VALIDATORS.Message;

/** Whether a value is a part (spec §4.1.6). */
export const isPart: (value: unknown) => value is Part = VALIDATORS.Part;

/** Whether a value is an artifact (spec §4.1.7). */
export const isArtifact: (value: unknown) => value is Artifact = VALIDATORS.Artifact;

/** Whether a value is an agent card (spec §4.4.1). */
export const isAgentCard: (value: unknown) => value is AgentCard = VALIDATORS.AgentCard;
