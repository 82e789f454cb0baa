import type { Scope } from './task-key.js';

/** A user, in all agents and tenants unless one is given. */
export interface OwnerQuery {
  /** Id of the user; `null` is the anonymous caller, who equals no user. */
  readonly owner: string | null;
  /** Id of the task space of the only agent to include. */
  readonly agent?: string;
  /** The only tenant to include; "" is no tenant. */
  readonly tenant?: string;
}

/** True if a scope matches the query. Names are compared as whole strings, without wildcards. */
export function isOwnedBy({ owner, agent, tenant }: OwnerQuery, scope: Scope): boolean {
  return (
    scope.owner === owner &&
    (agent === undefined || scope.agent === agent) &&
    (tenant === undefined || scope.tenant === tenant)
  );
}

/** Returns a unique text for a query. */
export function ownerQueryText({ owner, agent, tenant }: OwnerQuery): string {
  return JSON.stringify([owner, agent ?? null, tenant ?? null]);
}
