/** Any JSON value, as data: nobody changes it once it is part of the model. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];

/** A JSON object whose members the protocol leaves free (`metadata`, `params`, `header`). */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Whether a value of which nothing is known is an object with members: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
