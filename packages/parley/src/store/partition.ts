import type { Scope } from './task-key.js';

/** Number of partitions of a storage. Stored data depend on it. */
export const PARTITIONS = 256;

/**
 * Returns the partition of a scope, from 0. All data of one scope are in one partition. Stored data depend on this
 * function: 32-bit FNV-1a over agent, tenant and owner, each with its length.
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
  // The high bits are mixed better than the low ones. 8 bits give 256 partitions.
  return hash >>> 24;
}
