import type { User } from '../user.js';
import { userId } from '../user.js';
import { type CredentialOwner, timeOf } from './api-key.js';

/** The scheme that users come from. */
export interface UserSource {
  /** The first part of the ids of the users. */
  readonly issuer: string;
  /** The name of the scheme in the card. */
  readonly schemeName: string;
}

/** The user of a credential. All its requests share the object. */
export function ownerAsUser(owner: CredentialOwner, { issuer, schemeName }: UserSource): User {
  const { subject, name, scopes, permissions, tenants, metadata, expiresAt } = owner;
  return Object.freeze({
    id: userId(issuer, subject),
    schemes: Object.freeze([schemeName]),
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes: Object.freeze([...scopes]) }),
    ...(permissions !== undefined && { permissions: Object.freeze([...permissions]) }),
    ...(tenants !== undefined && { tenants: Object.freeze([...tenants]) }),
    ...(metadata !== undefined && { metadata }),
    ...(expiresAt !== undefined && { expiresAt: timeOf(expiresAt) }),
  });
}
