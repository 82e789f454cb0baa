import type { Part, StreamResponse, TaskStatus } from 'parley-a2a';
import { isEncrypted } from './encrypted-parts.js';
import { hasOwnSignature } from './signed-ends.js';
import { UntrustedContentError } from './untrusted-content-error.js';

/**
 * Checks that all parts of an answer are encrypted. The text of an end that the engine wrote is not encrypted.
 * @throws UntrustedContentError naming the first plain part.
 */
export function checkEncrypted(event: StreamResponse): void {
  if (event.message !== undefined) return checkParts(event.message.parts, 'message');
  if (event.artifactUpdate !== undefined) return checkParts(event.artifactUpdate.artifact.parts, 'artifact');
  if (event.statusUpdate !== undefined) return checkStatus(event.statusUpdate.status);
  const { artifacts = [], history = [], status } = event.task;
  for (const [at, { parts }] of artifacts.entries()) checkParts(parts, `task.artifacts[${at}]`);
  for (const [at, { role, parts }] of history.entries())
    if (role === 'ROLE_AGENT') checkParts(parts, `task.history[${at}]`);
  checkStatus(status);
}

function checkStatus(status: TaskStatus): void {
  if (status.message !== undefined && hasOwnSignature(status)) checkParts(status.message.parts, 'status.message');
}

function checkParts(parts: readonly Part[], field: string): void {
  const plain = parts.findIndex((part) => !isEncrypted(part));
  if (plain >= 0)
    throw new UntrustedContentError(
      `${field}.parts[${plain}]`,
      'must be encrypted: this client takes no plain answers',
    );
}
