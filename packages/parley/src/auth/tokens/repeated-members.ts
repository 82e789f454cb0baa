import { quotedEnd } from '../quoted-text.js';

const COLON = /\s*:/y;

/** True if an object in a valid JSON text has a member twice. Readers differ in which one counts (RFC 8259 §4). */
export function hasRepeatedMember(json: string): boolean {
  const open: Set<string>[] = [];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '{' || character === '[') open.push(new Set());
    else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      const start = at;
      at = quotedEnd(json, start);
      if (at < 0) return false;
      COLON.lastIndex = at + 1;
      if (!COLON.test(json)) continue;
      const text = json.slice(start, at + 1);
      const name = text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1);
      const names = open.at(-1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}
