/** The place of a value in a list, for one removal. A removed place is empty. */
export interface Place<Value> {
  value: Value | undefined;
  before: Place<Value> | undefined;
  after: Place<Value> | undefined;
}

/**
 * A list in insertion order that removes any value at the cost of a few assignments. For entries that come and go with
 * every call. A removed entry keeps no other entry alive.
 */
export class LinkedList<Value> {
  #first: Place<Value> | undefined;
  #last: Place<Value> | undefined;
  /** Count of the values. Only the list itself changes it. */
  size = 0;

  /** The place of the oldest value. */
  get first(): Place<Value> | undefined {
    return this.#first;
  }

  add(value: Value): Place<Value> {
    const place: Place<Value> = { value, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.size += 1;
    return place;
  }

  /** Removes a value. Does nothing if the value was removed before. */
  remove(place: Place<Value>): void {
    if (place.value === undefined) return;
    const { before, after } = place;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    place.value = undefined;
    place.before = undefined;
    place.after = undefined;
    this.size -= 1;
  }

  /** All values, oldest first. */
  values(): Value[] {
    const values: Value[] = [];
    for (let place = this.#first; place !== undefined; place = place.after) values.push(place.value as Value);
    return values;
  }
}
