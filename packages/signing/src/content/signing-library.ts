import type * as Jose from 'jose';

/** The library for signatures and encryption. */
export type SigningLibrary = typeof Jose;

/** Loads the library. */
export function loadSigningLibrary(): Promise<SigningLibrary> {
  return import('jose');
}
