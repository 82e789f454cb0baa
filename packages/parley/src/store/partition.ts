import type { Scope } from './task-key.js';

/** Count of the partitions of a storage. Stored data depend on it. */
export const PARTITIONS = 256;

/**
 * The partition of a scope, from 0. All that belongs to one scope lies in one partition. Stored data depend on this
 * function: it is FNV-1a with 32 bits over agent, tenant and owner, each with its length.
 */
export function partitionOf({ agent, tenant, owner }: Scope): number {
  const user = owner === null ? '-' : `${owner.length} ${owner}`;
  const text = `${agent.length} ${agent}${tenant.length} ${tenant}${user}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  // The high bits are mixed better than the low ones. There are as many values as partitions.
  return hash >>> 24;
}
