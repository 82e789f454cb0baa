import { hash } from 'node:crypto';
import { partitionOf, type Scope, type TaskKey } from 'parley-a2a/storage-engine';

// Texts of PostgreSQL cannot contain U+0000 or an unpaired surrogate, and an index accepts no text of some kilobytes.
// Names from callers can have all of that.

/** Prefixes of an escaped text, and of the hash of a name. No plain text begins with them. */
const ESCAPED = '\u0001';
const HASHED = '\u0002';
/** Maximum length of a name in an index, in UTF-16 units. Longer ones are hashed. */
const LONGEST = 256;
const SCOPES = 10_000;

/** Encodes a name as a text of PostgreSQL; `nameOf` decodes it. */
export function textOfName(name: string): string {
  const isPlain = !name.includes('\0') && !name.startsWith(ESCAPED) && !name.startsWith(HASHED) && name.isWellFormed();
  return isPlain ? name : ESCAPED + JSON.stringify(name);
}

/** Decodes a text of `textOfName`. */
export function nameOf(text: string): string {
  return text.startsWith(ESCAPED) ? (JSON.parse(text.slice(1)) as string) : text;
}

/** Returns the index form of a name: the text of a short name, or the hash of a long one. */
export function indexForm(name: string): string {
  const text = textOfName(name);
  return text.length <= LONGEST ? text : `${HASHED}${hash('sha256', text)}`;
}

/** Returns the text to store with an index form that is a hash. `null` for other names. */
export function fullText(name: string): string | null {
  const text = textOfName(name);
  return text.length <= LONGEST ? null : text;
}

/** Returns a name from its index form, and its full text if the form is a hash. */
export function storedName(form: string, full: string | null): string {
  return nameOf(full ?? form);
}

/** Returns the text of an idempotency key for display. A long key is stored as its hash only. */
export function textOfKeyForm(form: string): string {
  return form.startsWith(HASHED) ? `sha256:${form.slice(HASHED.length)}` : nameOf(form);
}

/** Returns agent, tenant and owner of a scope as columns. */
export function scopeColumns({ agent, tenant, owner }: Scope): readonly [string, string, string | null] {
  return [textOfName(agent), textOfName(tenant), owner === null ? null : textOfName(owner)];
}

/** Returns SQL that is true while an owner is blocked. The arguments are SQL for the names of the scope. */
export function isBlocked(agent: string, tenant: string, owner: string): string {
  return `EXISTS (SELECT FROM parley.owner_block b WHERE b.owner IS NOT DISTINCT FROM ${owner}
    AND (b.agent IS NULL OR b.agent = ${agent}) AND (b.tenant IS NULL OR b.tenant = ${tenant})
    AND b.until > parley.now_ms())`;
}

/** Returns the id of a push configuration; its hash if the id is long and the configuration cannot be read. */
export function configIdOf(form: string, config: string): string {
  if (!form.startsWith(HASHED)) return nameOf(form);
  try {
    return (JSON.parse(config) as { readonly id?: string }).id ?? form;
  } catch {
    return form;
  }
}

/** Returns the key of a task from the columns of its row. */
export function storedKey({ agent, tenant, owner, id, full_id: full }: KeyColumns): TaskKey {
  const scope = { agent: nameOf(agent), tenant: nameOf(tenant), owner: owner === null ? null : nameOf(owner) };
  return { scope, id: storedName(id, full) };
}

/** The columns of the key of a task. */
export interface KeyColumns {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly full_id: string | null;
}

/** A scope as stored in the tables. */
export interface StoredScope {
  readonly scope: Scope;
  /** The hash of the scope, as a UUID. */
  readonly hash: string;
  readonly part: number;
}

/** Returns the key of a task in the form for statements. */
export function keyFields(
  scope: StoredScope,
  { id }: Pick<TaskKey, 'id'>,
): { readonly part: number; readonly scope: string; readonly id: string } {
  return { part: scope.part, scope: scope.hash, id: indexForm(id) };
}

/** Cache of scopes with their hashes, as long as a scope is in use. */
export class StoredScopes {
  readonly #known = new Map<string, StoredScope>();

  of(scope: Scope): StoredScope {
    const { agent, tenant, owner } = scope;
    const key = JSON.stringify(owner === null ? [agent, tenant] : [agent, tenant, owner]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const stored = { scope, hash: hashOf(key), part: partitionOf(scope) };
    this.#known.set(key, stored);
    if (this.#known.size > SCOPES) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    return stored;
  }
}

/** Returns the hash of a context of a scope. */
export function contextHash({ hash }: StoredScope, contextId: string): string {
  return hashOf(`${hash} ${JSON.stringify(contextId)}`);
}

/** Returns the first half of the SHA-256 of a text, as a UUID. */
function hashOf(text: string): string {
  const hex = hash('sha256', text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
