import type { SendMessageRequest } from 'parley-a2a';
import { A2AError, BY_VERB, ENCRYPTION_EXTENSION } from 'parley-a2a/kit';
import type { RequestHandler, ServerCallContext } from 'parley-a2a/server';
import type { VerifiedSignature } from './content-verifier.js';
import type { AnswerKeyRule } from './trusted-peer.js';
import { UntrustedContentError } from './untrusted-content-error.js';
import { notedSigners } from './verified-signers.js';

/** The facts about a message that may name a key for answers. */
interface AnswerKeyFacts {
  readonly verified: readonly VerifiedSignature[];
  readonly context: ServerCallContext;
  readonly handler: RequestHandler;
  readonly rule: AnswerKeyRule;
}

/**
 * Checks that answers to a message may be encrypted for the key that it names.
 * @throws UntrustedContentError if another caller could read answers with that key.
 */
export async function checkAnswerKey(
  { message, tenant }: SendMessageRequest,
  { verified, context, handler, rule }: AnswerKeyFacts,
): Promise<void> {
  if (rule === 'signer' || message.metadata?.[ENCRYPTION_EXTENSION] === undefined) return;
  const refused = (fault: string) =>
    new UntrustedContentError(`message.metadata[${JSON.stringify(ENCRYPTION_EXTENSION)}].replyTo`, fault);
  if (context.user !== undefined) {
    if (verified.some(({ isBound }) => isBound)) return;
    throw refused('is not by a signer of this caller. The operator binds a signer to its user');
  }
  if (message.taskId === undefined) return;
  const task = await handler[BY_VERB.get](
    { id: message.taskId, ...(tenant !== undefined && { tenant }) },
    context,
  ).catch((error: unknown) => {
    // The engine refuses a message to a missing task.
    if (error instanceof A2AError && error.code === 'TASK_NOT_FOUND') return undefined;
    throw error;
  });
  const first = task?.history?.find(({ role }) => role === 'ROLE_USER');
  if (first === undefined) return;
  const began = notedSigners(first).map(({ id }) => id);
  if (!verified.some(({ signer }) => began.includes(signer.id)))
    throw refused('is not by the signer that began the task');
}
