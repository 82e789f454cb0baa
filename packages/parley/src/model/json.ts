/** Any JSON value. Values of the model are never changed. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];

/** A JSON object whose members the protocol leaves free (`metadata`, `params`, `header`). */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** True if an unknown value is an object with members: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
