import type { OwnerQuery } from '../store/owner-query.js';
import type { FileScope, StoredFile } from './file-store.js';

/** A file with its place. */
export interface OwnedFile {
  readonly scope: FileScope;
  readonly file: StoredFile;
}

/** Counts of erased files, and of erased partial uploads. */
export interface ErasedFiles {
  readonly files: number;
  readonly uploads: number;
}

/** All data of one user in a file store. */
export interface OwnerFiles {
  /** The files of an owner in all agents and tenants, expired ones included. */
  list(owner: OwnerQuery): AsyncIterable<OwnedFile>;
  /** Counts the files and uploads that `erase` would find. */
  count(owner: OwnerQuery): Promise<ErasedFiles>;
  /**
   * Erases files, uploads, and their bytes left by crashes. A file that is being received is refused or erased.
   * `agents`: ids of agents that the caller knows, to find data that has no record of its owner.
   */
  erase(owner: OwnerQuery, agents: readonly string[]): Promise<ErasedFiles>;
}
