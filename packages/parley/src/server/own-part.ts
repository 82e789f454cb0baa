import type { JsonValue } from '../model/json.js';
import type { Part } from '../model/part.js';

/**
 * A data part from the library's own code. Its data are valid and immutable, so the engine neither checks nor copies
 * them. Other event queues treat it like any part, and may copy it.
 */
export class OwnPart {
  readonly data: JsonValue;

  constructor(data: JsonValue) {
    this.data = data;
  }

  /** The part in the form of events. */
  get plain(): Part {
    return { data: this.data };
  }
}

const CONTROL = new WeakSet<object>();

/**
 * Marks a part as one of the toolkit, such as the record of a call or a question for approval. Schemas of an author do
 * not apply to it. The mark is the identity of the object: a part from outside, or a copy, has none.
 */
export function controlPart(part: Part): Part {
  CONTROL.add(part);
  return part;
}

/** True for a part that the toolkit has made. */
export function isControlPart(part: object): boolean {
  return part instanceof OwnPart || CONTROL.has(part);
}
