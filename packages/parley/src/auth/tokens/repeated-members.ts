import { quotedEnd } from '../quoted-text.js';

const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;

/** True if an object in a valid JSON text has a member twice. Readers differ in which one counts (RFC 8259 §4). */
export function hasRepeatedMember(json: string): boolean {
  const open: Set<string>[] = [];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const start = at;
      at = quotedEnd(json, start);
      if (at < 0) return false;
      if (!isBeforeColon(json, at + 1)) continue;
      const text = json.slice(start, at + 1);
      const name = text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1);
      const names = open.at(-1);
      if (names?.has(name)) return true;
      names?.add(name);
    } else if (code === 0x7b || code === 0x5b) open.push(new Set());
    else if (code === 0x7d || code === 0x5d) open.pop();
  }
  return false;
}

/** White space of JSON has no code above that of a space. */
function isBeforeColon(json: string, from: number): boolean {
  let at = from;
  while (json.charCodeAt(at) <= SPACE) at++;
  return json.charCodeAt(at) === COLON;
}
