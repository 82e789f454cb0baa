import type { AgentCard } from '../model/agent-card.js';
import { isObject } from '../model/json.js';
import { v1_0 } from './v1_0/wire-codec.js';
import type { WireCodec } from './wire-codec.js';

/**
 * One card for clients of both generations, if the request does not name a version: all members of 1.0 and of the older
 * version. A member that both versions have holds the members of both.
 */
export function encodeHybridCard(card: AgentCard, older: WireCodec): string {
  return JSON.stringify(merge(JSON.parse(v1_0.encodeCard(card)), JSON.parse(older.encodeCard(card))));
}

function merge(current: unknown, old: unknown): unknown {
  if (Array.isArray(current) && Array.isArray(old)) {
    return current.map((item, index) => merge(item, old[index]));
  }
  if (!isObject(current) || !isObject(old)) return current ?? old;
  const names = new Set([...Object.keys(current), ...Object.keys(old)]);
  return Object.fromEntries([...names].map((name) => [name, merge(current[name], old[name])]));
}
