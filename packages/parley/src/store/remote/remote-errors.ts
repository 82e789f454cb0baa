import { OwnerBlockedError } from '../../errors/owner-blocked-error.js';
import { StorageError } from '../../errors/storage-error.js';
import { StorageFullError } from '../../errors/storage-full-error.js';
import { UnreadableTaskError, unreadableReason } from '../../errors/unreadable-task-error.js';

/** An error of a call, as JSON between processes. */
export type FailureFields =
  | { readonly kind: 'blocked' }
  | { readonly kind: 'full'; readonly message: string }
  | { readonly kind: 'unreadable'; readonly taskId: string; readonly reason: string }
  | { readonly kind: 'storage'; readonly message: string; readonly told: boolean; readonly reason?: string };

/** Serializes an error of a storage for another process. */
export function failureFields(error: unknown): FailureFields {
  if (error instanceof OwnerBlockedError) return { kind: 'blocked' };
  if (error instanceof UnreadableTaskError) {
    const taskId = String(error.details.metadata?.taskId);
    return { kind: 'unreadable', taskId, reason: unreadableReason(error.cause).replace(/^.*? cannot be read: /, '') };
  }
  if (error instanceof StorageFullError) return { kind: 'full', message: error.message };
  if (error instanceof StorageError) {
    const { message, told, reason } = error;
    return { kind: 'storage', message, told, ...(reason !== undefined && { reason }) };
  }
  return { kind: 'storage', message: error instanceof Error ? error.message : String(error), told: false };
}

/** Restores an error from another process. */
export function failureOf(fields: FailureFields): Error {
  switch (fields.kind) {
    case 'blocked':
      return new OwnerBlockedError();
    case 'full':
      return new StorageFullError(fields.message);
    case 'unreadable':
      return new UnreadableTaskError(fields.taskId, new Error(fields.reason));
    case 'storage':
      return new StorageError(fields.message, fields);
  }
}
