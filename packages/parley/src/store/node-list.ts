import type { NodeBeat, StorageNode } from './task-storage.js';

/** Nodes without a heartbeat for this time are forgotten. */
const FORGET_MS = 3_600_000;

/** The nodes of a storage that keeps its list in memory. */
export class NodeList {
  readonly #nodes = new Map<string, StorageNode>();

  note({ node, agents, runningTurns }: NodeBeat, now: number): void {
    this.#nodes.set(node, {
      node,
      agents: [...agents],
      runningTurns,
      firstSeenAt: this.#nodes.get(node)?.firstSeenAt ?? now,
      seenAt: now,
    });
    for (const [id, { seenAt }] of this.#nodes) if (seenAt < now - FORGET_MS) this.#nodes.delete(id);
  }

  /** In the order in which they were first seen. */
  all(): readonly StorageNode[] {
    return [...this.#nodes.values()];
  }
}
