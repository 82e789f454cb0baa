/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns true for a JSON object; false for lists, null and plain values. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a member of an object; undefined if the value is not an object or lacks the member. */
export function memberOf(value: unknown, name: string): unknown {
  return isJson(value) ? value[name] : undefined;
}

/** Returns the items of a list; none if the value is not a list. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Parses a text; undefined if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value in an error or a finding, truncated to 200 characters. */
export function excerptOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
