/** A string of a JSON text, followed by a colon if it names a member, or a bracket. */
const PIECE = /("(?:[^"\\]|\\.)*")(\s*:)?|[[\]{}]/g;

/**
 * True if an object in a valid JSON text has a member twice. Readers differ in which one counts (RFC 8259 §4).
 */
export function hasRepeatedMember(json: string): boolean {
  const open: Set<string>[] = [];
  for (const [piece, text, colon] of json.matchAll(PIECE)) {
    if (piece === '{' || piece === '[') open.push(new Set());
    else if (piece === '}' || piece === ']') open.pop();
    else if (colon !== undefined && text !== undefined) {
      const names = open.at(-1);
      const name = text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
  }
  return false;
}
