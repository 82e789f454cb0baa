import type { Artifact } from '../model/artifact.js';
import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../model/stream-response.js';
import type { Task } from '../model/task.js';

/** The message of a status: a text, parts, or a whole message. The engine adds ids and role. */
export type StatusContent = string | readonly Part[] | Partial<Message>;

/** Artifact content: a text, one part or several. */
export type ArtifactContent = string | Part | readonly Part[];

/**
 * Description of an artifact, without its content. `lastChunk` marks the last chunk (Spec §4.2.2). `true`: this is the
 * last chunk. `false`: more chunks may follow, until an update says otherwise. Default: the engine decides by the next
 * event.
 */
export type ArtifactInfo = Partial<Omit<Artifact, 'parts'>> & { readonly lastChunk?: boolean };

/** For a chunk that is not the last one, even after statuses and other artifacts. */
export const MORE_FOLLOWS = Object.freeze({ lastChunk: false });

/** Additions to a status. */
export interface StatusInfo {
  readonly metadata?: JsonObject;
}

/** An event in the protocol's own form. Task id, context id and message id may be left out. */
export type RawEvent =
  | { readonly task: Partial<Task> & Pick<Task, 'status'> }
  | { readonly message: Partial<Message> }
  | { readonly statusUpdate: Partial<TaskStatusUpdateEvent> & Pick<TaskStatusUpdateEvent, 'status'> }
  | { readonly artifactUpdate: Partial<TaskArtifactUpdateEvent> & Pick<TaskArtifactUpdateEvent, 'artifact'> };

/**
 * Receives the events of an agent. Every method resolves when the event is in the buffer: at once, or later if the
 * agent is faster than the storage (back-pressure). It rejects once the turn is over. Events are validated and
 * committed before callers see them. An invalid event fails the task.
 */
export interface EventQueue {
  working(content?: StatusContent, info?: StatusInfo): Promise<void>;
  /** Creates or replaces an artifact. Resolves to its id, for `append`. */
  artifact(content: ArtifactContent, info?: ArtifactInfo): Promise<string>;
  /** Adds parts to an artifact. */
  append(artifactId: string, content: ArtifactContent, info?: Omit<ArtifactInfo, 'artifactId'>): Promise<void>;
  /** Asks the caller for input, and ends the turn. */
  inputRequired(content?: StatusContent, info?: StatusInfo): Promise<void>;
  /** Asks for authorization. The agent may continue the turn once it arrives (Spec §7.6). */
  authRequired(content?: StatusContent, info?: StatusInfo): Promise<void>;
  complete(content?: StatusContent, info?: StatusInfo): Promise<void>;
  fail(content?: StatusContent, info?: StatusInfo): Promise<void>;
  reject(content?: StatusContent, info?: StatusInfo): Promise<void>;
  cancel(content?: StatusContent, info?: StatusInfo): Promise<void>;
  /** Sends a direct reply. An existing task becomes COMPLETED with that message (Spec §3.1.1). */
  message(content: StatusContent): Promise<void>;
  /** Publishes an event in the protocol's own form. The engine sets its timestamp. */
  publish(event: RawEvent): Promise<void>;
  /** Resolves when all events published so far are committed. */
  flush(): Promise<void>;
}
