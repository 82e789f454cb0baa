import type { JsonValue } from '../model/json.js';
import type { Part } from '../model/part.js';

/**
 * A data part from the library's own code. Its data are valid, and nothing changes them any more: the engine takes them
 * without a check and without a copy. Other queues see a part like any other, and may pass on a copy.
 */
export class OwnPart {
  readonly data: JsonValue;

  constructor(data: JsonValue) {
    this.data = data;
  }

  /** The part as events have it. */
  get plain(): Part {
    return { data: this.data };
  }
}

const CONTROL = new WeakSet<object>();

/**
 * Marks a part as one of the toolkit, such as the record of a call or a question for approval. Schemas of an author say
 * nothing about it. The mark is the object itself: a part from outside, and a copy, has none.
 */
export function controlPart(part: Part): Part {
  CONTROL.add(part);
  return part;
}

/** True for a part that the toolkit itself has made. */
export function isControlPart(part: object): boolean {
  return part instanceof OwnPart || CONTROL.has(part);
}
