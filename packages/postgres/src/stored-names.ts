import { createHash } from 'node:crypto';
import { partitionOf, type Scope, type TaskKey } from 'parley-a2a/storage-engine';

// Texts of PostgreSQL hold neither U+0000 nor half a surrogate pair, and an index takes no text of some kilobytes.
// Names from callers can have all of that.

/** Begins a text that is escaped, and one that is the hash of a name. A plain text does not begin with them. */
const ESCAPED = '\u0001';
const HASHED = '\u0002';
/** Longest name that an index has as it is, in UTF-16 units. */
const LONGEST = 256;
const SCOPES = 10_000;

/** A name as a text of PostgreSQL; `nameOf` gives the name back. */
export function textOfName(name: string): string {
  const isPlain = !name.includes('\0') && !name.startsWith(ESCAPED) && !name.startsWith(HASHED) && name.isWellFormed();
  return isPlain ? name : ESCAPED + JSON.stringify(name);
}

/** The name of a text. */
export function nameOf(text: string): string {
  return text.startsWith(ESCAPED) ? (JSON.parse(text.slice(1)) as string) : text;
}

/** A name as an index has it: the text of a short name, or the hash of a long one. */
export function indexForm(name: string): string {
  const text = textOfName(name);
  return text.length <= LONGEST ? text : `${HASHED}${createHash('sha256').update(text).digest('hex')}`;
}

/** The text to keep beside the index form, because the form is a hash. `null` for other names. */
export function fullText(name: string): string | null {
  const text = textOfName(name);
  return text.length <= LONGEST ? null : text;
}

/** The name that was stored as an index form, and its full text if that was needed. */
export function storedName(form: string, full: string | null): string {
  return nameOf(full ?? form);
}

/** The text of an idempotency key for a reader. A long key is kept as its hash only. */
export function textOfKeyForm(form: string): string {
  return form.startsWith(HASHED) ? `sha256:${form.slice(HASHED.length)}` : nameOf(form);
}

/** The agent, the tenant and the owner of a scope, as columns have them. */
export function scopeColumns({ agent, tenant, owner }: Scope): readonly [string, string, string | null] {
  return [textOfName(agent), textOfName(tenant), owner === null ? null : textOfName(owner)];
}

/** SQL that is true while new data of an owner are refused. The arguments are SQL for the names of the scope. */
export function isBlocked(agent: string, tenant: string, owner: string): string {
  return `EXISTS (SELECT FROM parley.owner_block b WHERE b.owner IS NOT DISTINCT FROM ${owner}
    AND (b.agent IS NULL OR b.agent = ${agent}) AND (b.tenant IS NULL OR b.tenant = ${tenant})
    AND b.until > parley.now_ms())`;
}

/** The id of a push configuration. A hash stands for it if it is long and the configuration cannot be read. */
export function configIdOf(form: string, config: string): string {
  if (!form.startsWith(HASHED)) return nameOf(form);
  try {
    return (JSON.parse(config) as { readonly id?: string }).id ?? form;
  } catch {
    return form;
  }
}

/** The key of a task from the columns of its row. */
export function storedKey({ agent, tenant, owner, id, full_id: full }: KeyColumns): TaskKey {
  const scope = { agent: nameOf(agent), tenant: nameOf(tenant), owner: owner === null ? null : nameOf(owner) };
  return { scope, id: storedName(id, full) };
}

/** The columns of a task that make its key. */
export interface KeyColumns {
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string | null;
  readonly id: string;
  readonly full_id: string | null;
}

/** A scope as the tables have it. */
export interface StoredScope {
  readonly scope: Scope;
  /** The hash that stands for the scope, as a UUID. */
  readonly hash: string;
  readonly part: number;
}

/** The key of a task as statements want it. */
export function keyFields(
  scope: StoredScope,
  { id }: Pick<TaskKey, 'id'>,
): { readonly part: number; readonly scope: string; readonly id: string } {
  return { part: scope.part, scope: scope.hash, id: indexForm(id) };
}

/** Scopes by their names. The hash of a scope is computed once, as long as the scope is in use. */
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

/** The hash that stands for a context of a scope. */
export function contextHash({ hash }: StoredScope, contextId: string): string {
  return hashOf(`${hash} ${JSON.stringify(contextId)}`);
}

/** The first half of the SHA-256 of a text, as a UUID. */
function hashOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
