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
