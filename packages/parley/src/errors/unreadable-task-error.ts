import { A2AError } from './a2a-error.js';

/**
 * One task cannot be read: its rows are damaged, or a newer version wrote them. The call fails, and a repetition fails
 * too. Other tasks are not affected.
 */
export class UnreadableTaskError extends A2AError {
  override readonly name = 'UnreadableTaskError';
  constructor(taskId: string, error: unknown) {
    const cause = new Error(`The task ${taskId} cannot be read: ${unreadableReason(error)}`);
    super('INTERNAL_ERROR', 'The stored task cannot be read', { metadata: { taskId } }, { cause });
  }
}

/** The reason why a stored text cannot be read, without its content. */
export function unreadableReason(error: unknown): string {
  // The message of a SyntaxError quotes the text.
  if (error instanceof SyntaxError) return 'a stored text is no JSON';
  return error instanceof Error ? error.message : String(error);
}
