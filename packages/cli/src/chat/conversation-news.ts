import type { StreamResponse, Task } from 'parley-a2a';
import { ArtifactNews } from '../output/artifact-news.js';

/**
 * Reduces events to their new parts. A task event repeats the whole task, so parts of earlier turns and connections are
 * removed.
 */
export class ConversationNews {
  readonly #artifacts = new ArtifactNews();
  /** Ids of messages that were shown. */
  readonly #messages = new Set<string>();

  of(event: StreamResponse): StreamResponse {
    if ('task' in event) return { task: this.#taskNews(event.task) };
    if (!('statusUpdate' in event)) return this.#artifacts.of(event);
    const { message } = event.statusUpdate.status;
    if (message === undefined || !this.#isShown(message.messageId)) return event;
    const { message: _, ...status } = event.statusUpdate.status;
    return { statusUpdate: { ...event.statusUpdate, status } };
  }

  #taskNews(task: Task): Task {
    const { message, ...status } = task.status;
    const artifacts = (task.artifacts ?? []).flatMap((artifact) => {
      const parts = this.#artifacts.unseen(task.id, artifact);
      this.#artifacts.keep(task.id, artifact);
      return parts.length === 0 ? [] : [{ ...artifact, parts }];
    });
    const isNews = message !== undefined && !this.#isShown(message.messageId);
    return { ...task, artifacts, status: isNews ? task.status : status };
  }

  #isShown(messageId: string): boolean {
    if (this.#messages.has(messageId)) return true;
    this.#messages.add(messageId);
    return false;
  }
}
