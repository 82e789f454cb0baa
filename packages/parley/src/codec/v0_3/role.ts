import type { Role } from '../../model/role.js';
import type { Dialect } from './dialect.js';

/** `user` in the one dialect, `ROLE_USER` in the other. */
export function writeRole({ kinds }: Dialect, role: Role): string {
  if (!kinds) return role;
  return role === 'ROLE_AGENT' ? 'agent' : 'user';
}

/** A role in any spelling; what is none stays as it is, for the validator to refuse. */
export function readRole(value: unknown): unknown {
  return value === 'user' ? 'ROLE_USER' : value === 'agent' ? 'ROLE_AGENT' : value;
}
