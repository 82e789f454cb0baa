import type { TaskKey, WakeupListener } from 'parley-a2a/storage-engine';

// A payload is a JSON array: the id of the sender, then wake-ups. A wake-up is an array of its kind and its key.

/** One wake-up. */
export type Wakeup =
  | { readonly kind: 'changed' | 'cancel'; readonly key: TaskKey }
  | { readonly kind: 'work' | 'delivery'; readonly agent: string };

/** The wake-ups of a payload, and the process that sent it. */
interface ReadPayload {
  readonly sender: string;
  readonly wakeups: readonly Wakeup[];
}

/** Maximum bytes of a payload: PostgreSQL accepts less than 8,000. */
const PAYLOAD_BYTES = 7_990;

/** Returns the text of a wake-up within a payload. Equal wake-ups have equal texts. */
export function wakeupText(wakeup: Wakeup): string {
  if ('agent' in wakeup) return JSON.stringify([wakeup.kind, wakeup.agent]);
  const { scope, id } = wakeup.key;
  return JSON.stringify([wakeup.kind, scope.agent, scope.tenant, scope.owner, id]);
}

/**
 * Packs wake-ups into as few payloads as possible. Drops a wake-up that is too long for a payload, because its
 * receivers also poll.
 */
export function payloadsOf(sender: string, texts: Iterable<string>): string[] {
  const start = `[${JSON.stringify(sender)}`;
  const payloads: string[] = [];
  let payload = start;
  let bytes = start.length;
  for (const text of texts) {
    // Includes the comma before it. The closing bracket is counted separately.
    const size = Buffer.byteLength(text) + 1;
    if (start.length + size + 1 > PAYLOAD_BYTES) continue;
    if (bytes + size + 1 > PAYLOAD_BYTES) {
      payloads.push(`${payload}]`);
      payload = start;
      bytes = start.length;
    }
    payload += `,${text}`;
    bytes += size;
  }
  if (payload !== start) payloads.push(`${payload}]`);
  return payloads;
}

/** Parses a payload. Skips invalid wake-ups, because other programs can send on the same channel. */
export function readPayload(text: string): ReadPayload {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    return { sender: '', wakeups: [] };
  }
  if (!Array.isArray(values)) return { sender: '', wakeups: [] };
  const [sender, ...rest] = values as readonly unknown[];
  if (typeof sender !== 'string') return { sender: '', wakeups: [] };
  return { sender, wakeups: rest.map(wakeupOf).filter((wakeup) => wakeup !== undefined) };
}

function wakeupOf(value: unknown): Wakeup | undefined {
  if (!Array.isArray(value)) return undefined;
  const [kind, agent, tenant, owner, id] = value as readonly unknown[];
  if (typeof agent !== 'string') return undefined;
  if (kind === 'work' || kind === 'delivery') return { kind, agent };
  if (kind !== 'changed' && kind !== 'cancel') return undefined;
  if (typeof tenant !== 'string' || typeof id !== 'string') return undefined;
  if (typeof owner !== 'string' && owner !== null) return undefined;
  return { kind, key: { scope: { agent, tenant, owner }, id } };
}

/** Calls the method of a listener for a wake-up. */
export function deliver(wakeup: Wakeup, listener: WakeupListener): void {
  switch (wakeup.kind) {
    case 'changed':
      return listener.taskChanged(wakeup.key);
    case 'cancel':
      return listener.cancelAsked(wakeup.key);
    case 'work':
      return listener.workReady(wakeup.agent);
    case 'delivery':
      return listener.deliveryReady(wakeup.agent);
  }
}
