import { PARTITIONS, type TaskKey, type WakeupListener } from 'parley-a2a/storage-engine';

/** A wake-up for other processes: its kind with the agent and the partition, or with the task. */
type Entry =
  | readonly [kind: PlacedKind, agent: string, partition: number]
  | readonly [kind: TaskKind, agent: string, tenant: string, owner: string | null, id: string];

/** Wake-ups about work of an agent in one partition. */
type PlacedKind = 'workReady' | 'deliveryReady';
type TaskKind = 'taskChanged' | 'cancelAsked';

/** Receives the wake-ups of other processes. */
export interface PlacedListener extends Pick<WakeupListener, TaskKind> {
  /** Called when work of an agent can be claimed in this partition. */
  placed(kind: PlacedKind, agent: string, partition: number): void;
}

/** Maximum number of wake-ups in one message. */
const MOST = 500;
/** Maximum length of a message. Longer ones are not from a process of this storage. */
const LONGEST = 4_194_304;

/** Distinct wake-ups that wait for their message. */
export class WakeupBatch {
  readonly #texts = new Set<string>();

  get isEmpty(): boolean {
    return this.#texts.size === 0;
  }

  task(kind: TaskKind, { scope, id }: TaskKey): void {
    this.#texts.add(JSON.stringify([kind, scope.agent, scope.tenant, scope.owner, id] satisfies Entry));
  }

  placed(kind: PlacedKind, agent: string, partition: number): void {
    this.#texts.add(JSON.stringify([kind, agent, partition] satisfies Entry));
  }

  /** Removes the wake-ups, and returns the texts of messages from `sender`. */
  take(sender: string): readonly string[] {
    const all = [...this.#texts];
    this.#texts.clear();
    const messages: string[] = [];
    for (let at = 0; at < all.length; at += MOST) {
      messages.push(`${beginOf(sender)}${all.slice(at, at + MOST).join(',')}]`);
    }
    return messages;
  }
}

/**
 * Passes the wake-ups of a message to a listener, unless `self` sent it. Invalid entries are skipped, because any
 * client that may publish can have written the message.
 */
export function readWakeups(message: string, self: string, listener: PlacedListener): void {
  if (message.length > LONGEST || message.startsWith(beginOf(self))) return;
  const [, ...entries] = listOf(message);
  for (const entry of entries) {
    if (isPlaced(entry)) listener.placed(...entry);
    else if (isTask(entry)) {
      const [kind, agent, tenant, owner, id] = entry;
      listener[kind]({ scope: { agent, tenant, owner }, id });
    }
  }
}

/** The beginning of a message: its sender, before the first wake-up. */
function beginOf(sender: string): string {
  return `[${JSON.stringify(sender)},`;
}

function listOf(message: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(message);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isPlaced(entry: unknown): entry is Extract<Entry, readonly [PlacedKind, ...unknown[]]> {
  if (!Array.isArray(entry)) return false;
  const [kind, agent, partition] = entry;
  const isKnown = kind === 'workReady' || kind === 'deliveryReady';
  return (
    isKnown && typeof agent === 'string' && Number.isInteger(partition) && partition >= 0 && partition < PARTITIONS
  );
}

function isTask(entry: unknown): entry is Extract<Entry, readonly [TaskKind, ...unknown[]]> {
  if (!Array.isArray(entry)) return false;
  const [kind, agent, tenant, owner, id] = entry;
  const isKnown = kind === 'taskChanged' || kind === 'cancelAsked';
  const texts = [agent, tenant, owner ?? '', id];
  return isKnown && owner !== undefined && texts.every((text) => typeof text === 'string');
}
