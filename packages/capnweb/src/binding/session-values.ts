import { InvalidParamsError } from 'parley-a2a/binding-kit';
import { readParameters } from './grant.js';
import type { InBandCredential } from './in-band-credential.js';

/** Reads the hello of a client: its service parameters, its tenant and its credential. */
export function readHello(hello: unknown): {
  readonly parameters: ReadonlyMap<string, string>;
  readonly tenant: string | undefined;
  readonly credential: InBandCredential | undefined;
} {
  const { parameters, tenant, credential } = members(hello, 'hello');
  if (tenant !== undefined && typeof tenant !== 'string') throw invalid('tenant', 'must be a string');
  return {
    parameters: readParameters(parameters, 'parameters'),
    tenant: tenant === '' ? undefined : tenant,
    credential: credential === undefined ? undefined : readCredential(credential, 'credential'),
  };
}

/** A credential within a session. */
export function readCredential(credential: unknown, field: string): InBandCredential {
  const { scheme, value } = members(credential, field);
  if (typeof scheme !== 'string' || typeof value !== 'string')
    throw invalid(field, 'must have a scheme and a value, both strings');
  return { scheme, value };
}

/** The service parameters in the options of a call. */
export function readOptions(options: unknown): ReadonlyMap<string, string> {
  return options === undefined || options === null
    ? readParameters(undefined, '')
    : readParameters(members(options, 'options').parameters, 'options.parameters');
}

/** The members of a plain object from a peer. */
export function members(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    throw invalid(field, 'must be an object');
  return value as Record<string, unknown>;
}

/** The error for one member of a request. */
export function invalid(field: string, description: string): InvalidParamsError {
  return new InvalidParamsError([{ field, description }]);
}

/** The request with the tenant of its grant. */
export function withTenant(value: unknown, tenant: string | undefined): unknown {
  if (tenant === undefined || typeof value !== 'object' || value === null) return value;
  const { tenant: asked = tenant } = value as { readonly tenant?: unknown };
  if (asked !== tenant) throw invalid('tenant', 'must be that of the session');
  return { ...value, tenant };
}
