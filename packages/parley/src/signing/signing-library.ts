import type * as Jose from 'jose';
import { missingPackage } from '../errors/missing-package.js';

/** The library for signatures and encryption. */
export type SigningLibrary = typeof Jose;

/** Loads the optional package. */
export function loadSigningLibrary(): Promise<SigningLibrary> {
  return import('jose').catch(missingPackage('Signed messages need', 'jose'));
}
