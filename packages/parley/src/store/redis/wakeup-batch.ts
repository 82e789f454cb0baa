import type { TaskKey } from '../task-storage.js';
import type { WakeupListener } from '../wakeups.js';

/** A wake-up that other processes get: its kind, and the agent or the task. */
type Entry = readonly [kind: keyof WakeupListener, agent: string, tenant?: string, owner?: string | null, id?: string];

/** Wake-ups in one message at most. */
const MOST = 500;
/** Longer messages come from no process of this storage. */
const LONGEST = 4_194_304;

const KINDS: ReadonlySet<unknown> = new Set<keyof WakeupListener>([
  'taskChanged',
  'workReady',
  'cancelAsked',
  'deliveryReady',
]);

/** Different wake-ups that wait for their message. */
export class WakeupBatch {
  readonly #texts = new Set<string>();

  get isEmpty(): boolean {
    return this.#texts.size === 0;
  }

  task(kind: 'taskChanged' | 'cancelAsked', { scope, id }: TaskKey): void {
    this.#texts.add(JSON.stringify([kind, scope.agent, scope.tenant, scope.owner, id] satisfies Entry));
  }

  agent(kind: 'workReady' | 'deliveryReady', agent: string): void {
    this.#texts.add(JSON.stringify([kind, agent] satisfies Entry));
  }

  /** Takes the wake-ups out, as the texts of messages from `sender`. */
  take(sender: string): readonly string[] {
    const all = [...this.#texts];
    this.#texts.clear();
    const messages: string[] = [];
    for (let at = 0; at < all.length; at += MOST) {
      messages.push(`[${JSON.stringify(sender)},${all.slice(at, at + MOST).join(',')}]`);
    }
    return messages;
  }
}

/**
 * Passes the wake-ups of a message to a listener, unless `self` sent it. Anyone who may publish can have written the
 * message: entries of another form are skipped.
 */
export function readWakeups(message: string, self: string, listener: WakeupListener): void {
  if (message.length > LONGEST) return;
  const [sender, ...entries] = listOf(message);
  if (sender === self) return;
  for (const entry of entries) {
    if (!isEntry(entry)) continue;
    const [kind, agent, tenant, owner, id] = entry;
    if (kind === 'workReady' || kind === 'deliveryReady') listener[kind](agent);
    else if (tenant !== undefined && owner !== undefined && id !== undefined) {
      listener[kind]({ scope: { agent, tenant, owner }, id });
    }
  }
}

function listOf(message: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(message);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is Entry {
  if (!Array.isArray(value)) return false;
  const [kind, agent, tenant, owner, id] = value;
  const isText = (part: unknown) => part === undefined || typeof part === 'string';
  return (
    KINDS.has(kind) && typeof agent === 'string' && isText(tenant) && (owner === null || isText(owner)) && isText(id)
  );
}
