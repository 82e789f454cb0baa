import type { JsonObject } from '../../model/json.js';
import { unknownMembers } from '../../options/check-options.js';

/** The user that a credential stands for. */
export interface CredentialOwner {
  /** The user within the scheme, such as `ada`. The id of the user also names the scheme. */
  readonly subject: string;
  readonly name?: string;
  /** Scopes that the credential grants. */
  readonly scopes?: readonly string[];
  /** Further rights of the user, for rules of the application. */
  readonly permissions?: readonly string[];
  /** Tenants that the user may name. */
  readonly tenants?: readonly string[];
  /** Facts for the agent. */
  readonly metadata?: JsonObject;
  /** The end of the credential: ms since the epoch, or a text such as `2030-01-31` or `2030-01-31T12:00:00Z`. */
  readonly expiresAt?: number | string;
}

/** A key and its owner. `sha256` is the hash of the key as 64 hex digits, for configurations without secrets. */
export type ApiKey = ({ readonly key: string } | { readonly sha256: string }) & CredentialOwner;

/** Visible characters without blanks: headers, cookies and urls can carry them. */
const KEY = /^[!-~]{1,4096}$/;
const SHA256 = /^[0-9a-f]{64}$/i;

const owner: Readonly<Record<keyof CredentialOwner, true>> = {
  subject: true,
  name: true,
  scopes: true,
  permissions: true,
  tenants: true,
  metadata: true,
  expiresAt: true,
};
const OWNER = Object.keys(owner);

/** True if a request can carry the text as a key. */
export function isKeyText(text: string): boolean {
  return KEY.test(text);
}

/** The problems of a key by its subject, without the key. */
export function apiKeyProblems(entry: ApiKey): readonly string[] {
  const { subject } = entry;
  const problems = ownerProblems(entry, ['key', 'sha256']);
  if ('sha256' in entry) {
    if ('key' in entry) problems.push(`${subject} must have either key or sha256`);
    if (typeof entry.sha256 !== 'string' || !SHA256.test(entry.sha256))
      problems.push(`the sha256 of ${subject} must be 64 hex digits`);
  } else if (typeof entry.key !== 'string' || !isKeyText(entry.key)) {
    problems.push(`the key of ${subject} must be visible characters without blanks, at most 4,096`);
  }
  return problems;
}

/** The problems of an owner, by its subject. `others` are the names of its further members, such as a secret. */
export function ownerProblems(entry: CredentialOwner, others: readonly string[] = []): string[] {
  const { subject, expiresAt, ...lists } = entry;
  if (typeof subject !== 'string' || subject === '') return ['the subject must be a text'];
  // A misspelled expiry or limit would have no effect.
  const problems = unknownMembers(entry, [...OWNER, ...others], subject);
  if (expiresAt !== undefined && !Number.isFinite(timeOf(expiresAt)))
    problems.push(`expiresAt of ${subject} must be a time such as 2030-01-31T12:00:00Z`);
  for (const name of ['scopes', 'permissions', 'tenants'] as const) {
    const list: unknown = lists[name];
    if (list !== undefined && !(Array.isArray(list) && list.every((one) => typeof one === 'string')))
      problems.push(`${name} of ${subject} must be a list of texts`);
  }
  return problems;
}

/** A time in ms since the epoch. `NaN` if the text is none. */
export function timeOf(time: number | string): number {
  return typeof time === 'number' ? time : Date.parse(time);
}
