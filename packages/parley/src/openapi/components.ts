import type { Reference, Schema } from './document.js';

/** The named parts of a document, each stored once. */
export class Components {
  readonly #schemas = new NamedSchemas();
  readonly #securitySchemes = new NamedSchemas();
  readonly #groups = new Map<string, string>();

  /** Stores a schema and returns a reference to it. If another schema has the name, a similar name is used. */
  add(name: string, schema: Schema): Reference {
    return { $ref: `#/components/schemas/${this.#schemas.add(name, schema)}` };
  }

  /** Stores a security scheme and returns its name. If another scheme has the name, a similar name is used. */
  addSecurityScheme(name: string, scheme: Schema): string {
    return this.#securitySchemes.add(name, scheme);
  }

  /** The name of the operations below a path: the wanted one, or a similar one if another path has that. */
  groupName(path: string, wanted: string): string {
    for (let count = 1; ; count++) {
      const own = withNumber(wanted, count);
      const owner = this.#groups.get(own) ?? path;
      if (owner !== path) continue;
      this.#groups.set(own, path);
      return own;
    }
  }

  /** All schemas, sorted by name. */
  get schemas(): Readonly<Record<string, Schema>> {
    return this.#schemas.sorted;
  }

  /** All security schemes, sorted by name. */
  get securitySchemes(): Readonly<Record<string, Schema>> {
    return this.#securitySchemes.sorted;
  }
}

/** Schemas whose names differ if they do. */
class NamedSchemas {
  readonly #schemas = new Map<string, Schema>();
  readonly #texts = new Map<string, string>();

  add(name: string, schema: Schema): string {
    const text = JSON.stringify(schema);
    for (let count = 1; ; count++) {
      const own = withNumber(name, count);
      const known = this.#texts.get(own);
      if (known === undefined) {
        this.#texts.set(own, text);
        this.#schemas.set(own, schema);
      } else if (known !== text) continue;
      return own;
    }
  }

  get sorted(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function withNumber(name: string, count: number): string {
  return count === 1 ? name : `${name}_${count}`;
}
