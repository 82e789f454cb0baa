import { type FileOwner, type FileScope, fileOwnerText } from '../file-store.js';

/** Files or uploads by their owners, tenants and ids. */
export class OwnedFiles<T> {
  readonly #byOwner = new Map<string, Map<string, T>>();

  find(scope: FileScope, id: string): T | undefined {
    return this.#byOwner.get(fileOwnerText(scope))?.get(placeOf(scope, id));
  }

  /** Adds a value, unless its id is taken. Returns the value that is stored then. */
  add(scope: FileScope, id: string, value: T): T {
    const known = this.find(scope, id);
    if (known !== undefined) return known;
    const key = fileOwnerText(scope);
    const values = this.#byOwner.get(key) ?? new Map<string, T>();
    this.#byOwner.set(key, values);
    values.set(placeOf(scope, id), value);
    return value;
  }

  /** Deletes a value. False if another value has its id. */
  delete(scope: FileScope, id: string, value: T): boolean {
    if (this.find(scope, id) !== value) return false;
    const key = fileOwnerText(scope);
    const values = this.#byOwner.get(key);
    values?.delete(placeOf(scope, id));
    if (values?.size === 0) this.#byOwner.delete(key);
    return true;
  }

  /** Those of an owner, in all tenants. */
  of(owner: FileOwner): T[] {
    return [...(this.#byOwner.get(fileOwnerText(owner))?.values() ?? [])];
  }

  all(): T[] {
    return [...this.#byOwner.values()].flatMap((values) => [...values.values()]);
  }
}

/** The separator is safe, because an id has no space. */
function placeOf({ tenant }: FileScope, id: string): string {
  return `${id} ${tenant}`;
}
