import type { Reference, Schema } from './document.js';

/** The named schemas of a document, each stored once. */
export class Components {
  readonly #schemas = new Map<string, Schema>();
  readonly #texts = new Map<string, string>();

  /** Stores a schema and returns a reference to it. If another schema has the name, a similar name is used. */
  add(name: string, schema: Schema): Reference {
    const text = JSON.stringify(schema);
    for (let count = 1; ; count++) {
      const own = count === 1 ? name : `${name}_${count}`;
      const known = this.#texts.get(own);
      if (known === undefined) {
        this.#texts.set(own, text);
        this.#schemas.set(own, schema);
      } else if (known !== text) continue;
      return { $ref: `#/components/schemas/${own}` };
    }
  }

  /** All schemas, sorted by name. */
  get schemas(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
