import { contentHash } from '../model/content-hash.js';
import type { JsonObject } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { SendMessageResponse, StreamResponse, TaskArtifactUpdateEvent } from '../model/stream-response.js';
import type { TaskStatus } from '../model/task.js';
import { isTerminal } from '../model/task-state.js';
import type { EventQueue } from '../server/event-queue.js';
import { AGENT_CALLS_EXTENSION } from './call-chain.js';
import { type CallRecord, recordMetadata } from './call-record.js';
import { ownMetadata } from './own-metadata.js';

/** The task that receives the events of a callee, and the callee. */
interface EventRelayOptions {
  readonly into: EventQueue;
  /** The name of the callee in its card. */
  readonly agent: string;
  readonly record: Pick<CallRecord, 'call' | 'callee'>;
}

const QUESTION = 'The agent asks for more.';
const LOGIN = 'The agent asks for an authorization.';

/**
 * Maps the events of a callee into a task. Artifacts get ids of their own and name their origin. Texts of statuses
 * become updates: the agent itself decides how its task ends. Metadata of the callee's statuses is dropped, because the
 * task uses its own there.
 */
export class EventRelay {
  readonly #options: EventRelayOptions;
  #taskId = '';
  #contextId: string | undefined;
  /** The last status message that was mapped. Snapshots repeat it. */
  #said: string | undefined;
  #isAsking = false;

  constructor(options: EventRelayOptions) {
    this.#options = options;
  }

  /** Maps one event. Resolves when the task can take the next one. */
  async take(event: StreamResponse): Promise<void> {
    const { into, agent } = this.#options;
    if (event.message !== undefined) {
      const { parts } = event.message;
      await into.publish({
        artifactUpdate: {
          artifact: {
            artifactId: this.#ownId(event.message.messageId),
            name: agent,
            parts,
            metadata: this.#origin({}),
          },
          lastChunk: true,
        },
      });
    } else if (event.task !== undefined) {
      const { id, contextId, artifacts = [], status } = event.task;
      this.#taskId = id;
      this.#contextId = contextId;
      const lastChunk = isTerminal(status.state);
      for (const artifact of artifacts) {
        await this.#artifact({ taskId: id, contextId: contextId ?? '', artifact, lastChunk });
      }
      await this.#status(status);
    } else if (event.statusUpdate !== undefined) {
      await this.#status(event.statusUpdate.status);
    } else {
      await this.#artifact(event.artifactUpdate);
    }
  }

  /** Maps the state in which the callee waits. Its question is the last event of the turn. */
  async end(answer: SendMessageResponse): Promise<void> {
    if (answer.task === undefined) return;
    const { id, contextId, status } = answer.task;
    this.#taskId = id;
    this.#contextId = contextId;
    if (status.state === 'TASK_STATE_INPUT_REQUIRED') {
      await this.#options.into.inputRequired(this.#asking(status.message, QUESTION));
    } else if (status.state === 'TASK_STATE_AUTH_REQUIRED' && !this.#isAsking) {
      await this.#login(status.message);
    }
  }

  async #status({ state, message }: TaskStatus): Promise<void> {
    if (state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_SUBMITTED') return;
    if (state === 'TASK_STATE_AUTH_REQUIRED') return this.#isAsking ? undefined : this.#login(message);
    const isNew = message !== undefined && message.messageId !== this.#said;
    if (!isNew && !this.#isAsking) return;
    this.#isAsking = false;
    this.#said = message?.messageId;
    await this.#options.into.working(isNew ? { parts: message.parts, metadata: this.#origin({}) } : undefined);
  }

  async #login(message: Message | undefined): Promise<void> {
    this.#isAsking = true;
    await this.#options.into.authRequired(this.#asking(message, LOGIN));
  }

  #asking(message: Message | undefined, text: string): Partial<Message> {
    const { record } = this.#options;
    const taskId = this.#taskId;
    const contextId = this.#contextId;
    return {
      parts: message?.parts ?? [{ text }],
      metadata: recordMetadata({ ...record, taskId, ...(contextId !== undefined && { contextId }) }),
    };
  }

  async #artifact({ artifact, append, lastChunk }: TaskArtifactUpdateEvent): Promise<void> {
    const { artifactId, name, description, parts, metadata } = artifact;
    await this.#options.into.publish({
      artifactUpdate: {
        artifact: {
          artifactId: this.#ownId(artifactId),
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          parts,
          metadata: { ...ownMetadata(metadata), ...this.#origin({ artifactId }) },
        },
        ...(append !== undefined && { append }),
        ...(lastChunk !== undefined && { lastChunk }),
      },
    });
  }

  /** The same for the same artifact, also in a later turn or attempt. */
  #ownId(artifactId: string): string {
    return `call-${contentHash([this.#options.record.callee, this.#taskId, artifactId])}`;
  }

  #origin(about: JsonObject): JsonObject {
    const { agent, record } = this.#options;
    const taskId = this.#taskId === '' ? {} : { taskId: this.#taskId };
    return { [AGENT_CALLS_EXTENSION]: { agent, call: record.call, ...taskId, ...about } };
  }
}
