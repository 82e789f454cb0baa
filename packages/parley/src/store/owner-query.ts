import type { Scope } from './task-key.js';

/** A user, in all agents and tenants unless one is named. */
export interface OwnerQuery {
  /** Id of the user; `null` is the anonymous caller, who equals no user. */
  readonly owner: string | null;
  /** Id of the task space of the only agent to look at. */
  readonly agent?: string;
  /** The only tenant to look at; "" is no tenant. */
  readonly tenant?: string;
}

/** True if the data of a scope are those of the query. Names are compared whole, and no character has a meaning. */
export function isOwnedBy({ owner, agent, tenant }: OwnerQuery, scope: Scope): boolean {
  return (
    scope.owner === owner &&
    (agent === undefined || scope.agent === agent) &&
    (tenant === undefined || scope.tenant === tenant)
  );
}

/** A text for a query. No two queries have the same. */
export function ownerQueryText({ owner, agent, tenant }: OwnerQuery): string {
  return JSON.stringify([owner, agent ?? null, tenant ?? null]);
}
