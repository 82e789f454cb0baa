import { refuseArgument, sha256Hex } from 'parley-a2a/kit';

/** The owner of a thread and its conversation. */
export interface ThreadOwner {
  /** Distinguishes agents that share a checkpointer. Default: "". */
  readonly agent?: string;
  readonly tenant: string;
  /** Absent for anonymous callers, who share their threads as they share their tasks. */
  readonly user?: { readonly id: string } | undefined;
  readonly contextId: string;
}

/**
 * The thread id of a conversation for the checkpointer: a hash of agent, tenant, user and context. The encoding is
 * unambiguous, so no caller can get the thread of another.
 */
export async function threadIdOf(owner: ThreadOwner): Promise<string> {
  if (typeof Object(owner).contextId !== 'string') refuseArgument('threadIdOf', '{ tenant, user, contextId }', owner);
  const { agent = '', tenant, user, contextId } = owner;
  return `parley-${await sha256Hex(JSON.stringify([agent, tenant, user?.id ?? null, contextId]))}`;
}
