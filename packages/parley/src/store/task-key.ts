/** The agent, tenant and owner of tasks. Every read and write is confined to one scope. */
export interface Scope {
  readonly agent: string;
  /** "" is no tenant. */
  readonly tenant: string;
  /** Id of the user; `null` is the anonymous caller, who equals no user. */
  readonly owner: string | null;
}

/** The key of a task. Its id is unique within its scope only. */
export interface TaskKey {
  readonly scope: Scope;
  readonly id: string;
}

/** True if two scopes are equal. */
export function isSameScope(one: Scope, other: Scope): boolean {
  return one === other || (one.owner === other.owner && one.tenant === other.tenant && one.agent === other.agent);
}

/** True if two keys name the same task. */
export function isSameTask(one: TaskKey, other: TaskKey): boolean {
  return one.id === other.id && isSameScope(one.scope, other.scope);
}

/** Returns a unique text for a key. Lengths of owner, tenant and agent make it unique. */
export function taskKeyText({ scope: { agent, tenant, owner }, id }: TaskKey): string {
  const user = owner === null ? '-' : `${owner.length} ${owner}`;
  const place = tenant === '' ? user : `${user}/${tenant.length} ${tenant}`;
  return `${place} ${agent.length} ${agent} ${id}`;
}
