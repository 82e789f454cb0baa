/** The place of a value in a list; good for one removal. */
export class Place<Value> {
  value: Value | undefined;
  before: Place<Value> | undefined = undefined;
  after: Place<Value> | undefined = undefined;

  constructor(value: Value) {
    this.value = value;
  }
}

/**
 * Values in the order they came, any of which leaves at the cost of a few assignments: for what comes and goes with every
 * call. What leaves keeps nothing alive and is kept alive by nothing.
 */
export class LinkedList<Value> {
  #first: Place<Value> | undefined;
  #last: Place<Value> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The place of the value that has been here longest. */
  get first(): Place<Value> | undefined {
    return this.#first;
  }

  add(value: Value): Place<Value> {
    const place = new Place(value);
    place.before = this.#last;
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#size += 1;
    return place;
  }

  /** Takes a value out. A place that has been left already is left alone. */
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
    this.#size -= 1;
  }

  /** What is in the list now. */
  values(): Value[] {
    const values: Value[] = [];
    for (let place = this.#first; place !== undefined; place = place.after) values.push(place.value as Value);
    return values;
  }
}
