import type { Message } from 'parley-a2a';
import { isObject, SIGNING_EXTENSION } from 'parley-a2a/kit';
import type { RequestContext } from 'parley-a2a/server';

/** A trusted peer that has signed content. */
export interface VerifiedSigner {
  /** The id of the trusted peer. */
  readonly id: string;
  /** The id of its key. */
  readonly kid: string;
}

const SIGNERS = new WeakMap<RequestContext, readonly VerifiedSigner[]>();

/**
 * The verified signers of the message of a turn. Empty if it has no signature, or if the agent has no
 * `messageSigning`.
 */
export function verifiedSigners(context: RequestContext): readonly VerifiedSigner[] {
  return SIGNERS.get(context) ?? [];
}

/** Stores the signers of a turn for its agent. */
export function rememberSigners(context: RequestContext, signers: readonly VerifiedSigner[]): void {
  SIGNERS.set(context, signers);
}

/** The signers that the server has recorded in a stored message. */
export function notedSigners({ metadata }: Pick<Message, 'metadata'>): readonly VerifiedSigner[] {
  const own = metadata?.[SIGNING_EXTENSION];
  const list = isObject(own) && Array.isArray(own.signers) ? (own.signers as unknown[]) : [];
  return list.flatMap((signer) =>
    isObject(signer) && typeof signer.id === 'string' && typeof signer.kid === 'string'
      ? [{ id: signer.id, kid: signer.kid }]
      : [],
  );
}
