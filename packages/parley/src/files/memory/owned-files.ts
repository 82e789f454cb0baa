import { type FileOwner, type FileScope, fileOwnerText } from '../file-store.js';

/** Files or uploads by their owners, tenants and ids. */
export class OwnedFiles<T> {
  readonly #byOwner = new Map<string, Map<string, T>>();

  find(scope: FileScope, id: string): T | undefined {
    return this.#byOwner.get(fileOwnerText(scope))?.get(placeOf(scope, id));
  }

  set(scope: FileScope, id: string, value: T): void {
    const key = fileOwnerText(scope);
    const values = this.#byOwner.get(key) ?? new Map<string, T>();
    this.#byOwner.set(key, values);
    values.set(placeOf(scope, id), value);
  }

  /** False if there is none of this id. */
  delete(scope: FileScope, id: string): boolean {
    const key = fileOwnerText(scope);
    const values = this.#byOwner.get(key);
    const isDeleted = values?.delete(placeOf(scope, id)) === true;
    if (values?.size === 0) this.#byOwner.delete(key);
    return isDeleted;
  }

  /** Those of an owner, in all tenants. */
  of(owner: FileOwner): T[] {
    return [...(this.#byOwner.get(fileOwnerText(owner))?.values() ?? [])];
  }

  all(): T[] {
    return [...this.#byOwner.values()].flatMap((values) => [...values.values()]);
  }
}

/** An id has no space. */
function placeOf({ tenant }: FileScope, id: string): string {
  return `${id} ${tenant}`;
}
