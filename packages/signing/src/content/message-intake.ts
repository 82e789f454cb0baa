import type { JsonObject, Message, SendMessageRequest } from 'parley-a2a';
import { InternalError, InvalidParamsError } from 'parley-a2a/binding-kit';
import {
  A2AError,
  BY_VERB,
  ENCRYPTION_EXTENSION,
  mapHandler,
  openLazily,
  SIGNING_EXTENSION,
  type StoredMessageReader,
  tellReadable,
  tellReader,
} from 'parley-a2a/kit';
import type { Clock, RequestHandler, ServerCallContext } from 'parley-a2a/server';
import { messageText, OPTIONAL_IDS } from './canonical-content.js';
import { restoredMessage } from './carried-labels.js';
import type { ContentVerifier, VerifiedSignature } from './content-verifier.js';
import type { SignatureHeader } from './signature-header.js';
import type { AnswerKeyRule, TrustedPeer } from './trusted-peer.js';
import { UntrustedContentError } from './untrusted-content-error.js';
import { notedSigners, type VerifiedSigner } from './verified-signers.js';

/** The rules for signed messages to an agent. */
interface IntakeRules {
  readonly verifier: ContentVerifier;
  /** True if a message without a signature is refused. */
  readonly required: boolean;
  /** The name of the agent in the signatures of senders. */
  readonly audience: string;
  /** Longest age of a signature. */
  readonly maxAgeMs: number;
  readonly clock: Clock;
  /** Decrypts the parts of a message. Throws if it cannot. Absent: encryption is off. */
  readonly opens?: ((message: Message, signers: readonly VerifiedSigner[]) => Promise<Message>) | undefined;
  /** Decrypts a message that the agent has encrypted for itself, too. Absent: encryption is off. */
  readonly reads?: StoredMessageReader | undefined;
  /** The callers who may name a key for answers. */
  readonly answerKeys: AnswerKeyRule;
}

/** Largest difference between the clocks of a signer and the server. */
const TOLERANCE_MS = 60_000;

/** Wraps the handler, so that the signatures of messages are verified before anything is stored. */
export function verifyingHandler(handler: RequestHandler, rules: IntakeRules): RequestHandler {
  const around = { handler, rules };
  return mapHandler(handler, (operation, method) => {
    if (operation === BY_VERB.send) {
      return async (request, context) => method(await takeIn(request as SendMessageRequest, context, around), context);
    }
    if (operation !== BY_VERB.stream) return method;
    return (request, context) =>
      openLazily(async () => {
        const verified = await takeIn(request as SendMessageRequest, context, around);
        return method(verified, context) as AsyncIterable<unknown>;
      });
  });
}

/** The verified request, with the names of the signers beside the signatures. */
async function takeIn(
  request: SendMessageRequest,
  context: ServerCallContext,
  { handler, rules }: { readonly handler: RequestHandler; readonly rules: IntakeRules },
): Promise<SendMessageRequest> {
  try {
    const { message } = request;
    const verified = await verifiedSignatures(message, context, rules);
    const signers = verified.map(({ signer }) => signer);
    const open = await rules.opens?.(message, signers);
    await checkAnswerKey(request, { verified, context, handler, rule: rules.answerKeys });
    const kept = withSigners(signers.length === 0 ? message : restoredMessage(message), signers);
    if (open !== undefined && open !== message) tellReadable(kept, { ...kept, parts: restoredMessage(open).parts });
    if (rules.reads !== undefined) tellReader(kept, rules.reads);
    return { ...request, message: kept };
  } catch (error) {
    if (error instanceof UntrustedContentError)
      throw new InvalidParamsError([{ field: error.field, description: error.message }]);
    throw error instanceof A2AError ? error : new InternalError({ cause: error });
  }
}

async function verifiedSignatures(
  message: Message,
  { user }: ServerCallContext,
  rules: IntakeRules,
): Promise<readonly VerifiedSignature[]> {
  const { verifier, required } = rules;
  const verified = await verifier.verify({
    type: 'message',
    metadata: message.metadata,
    field: 'message.metadata',
    text: ({ ids = [] }) => messageText(message, ids),
    fault: (header, peer) => faultOf(header, message, rules) ?? callerFault(peer, user?.id),
  });
  if (required && verified.length === 0) {
    throw new UntrustedContentError(
      `message.metadata[${JSON.stringify(SIGNING_EXTENSION)}]`,
      'is required: this agent takes signed messages only',
    );
  }
  return verified;
}

/** The reason why the claims of a signature do not fit the message, this agent or the time. */
function faultOf(
  { aud, iat, exp, ids = [], iss }: SignatureHeader,
  message: Message,
  { audience, maxAgeMs, clock }: IntakeRules,
): string | undefined {
  const now = clock.now();
  if (iss !== undefined) return 'is over an answer, not over a message to an agent';
  if (aud === undefined || plainAudience(aud) !== plainAudience(audience)) return 'is for another audience (aud)';
  if (OPTIONAL_IDS.some((name) => (message[name] !== undefined) !== ids.includes(name)))
    return 'is over a message with other ids (contextId, taskId)';
  if (exp === undefined) return 'has no time at which it ends (exp)';
  if (iat * 1_000 > now + TOLERANCE_MS) return 'is from the future (iat)';
  if (exp * 1_000 <= now - TOLERANCE_MS || iat * 1_000 <= now - maxAgeMs - TOLERANCE_MS) return 'has expired';
  return undefined;
}

function callerFault({ user }: TrustedPeer, caller: string | undefined): string | undefined {
  return user === undefined || user === caller ? undefined : 'is by a signer that does not sign for this caller';
}

/** An audience without final slashes, for comparisons. */
export function plainAudience(audience: string): string {
  return audience.replace(/(?<!\/)\/+$/, '');
}

/** Adds the signers to a stored message. Names that the sender wrote there are removed. */
function withSigners(message: Message, signers: readonly VerifiedSigner[]): Message {
  const own = message.metadata?.[SIGNING_EXTENSION];
  if (own === undefined) return message;
  const { signatures } = own as JsonObject;
  const noted = { ...(signatures !== undefined && { signatures }), signers: signers.map((signer) => ({ ...signer })) };
  return { ...message, metadata: { ...message.metadata, [SIGNING_EXTENSION]: noted } };
}

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
async function checkAnswerKey(
  { message, tenant }: SendMessageRequest,
  { verified, context, handler, rule }: AnswerKeyFacts,
): Promise<void> {
  if (rule === 'signer' || message.metadata?.[ENCRYPTION_EXTENSION] === undefined) return;
  const errorWith = (fault: string) =>
    new UntrustedContentError(`message.metadata[${JSON.stringify(ENCRYPTION_EXTENSION)}].replyTo`, fault);
  if (context.user !== undefined) {
    if (verified.some(({ isBound }) => isBound)) return;
    throw errorWith('is not by a signer of this caller. The operator binds a signer to its user');
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
    throw errorWith('is not by the signer that began the task');
}
