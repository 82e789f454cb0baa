import type { OwnerQuery } from '../store/owner-query.js';
import type { FileScope, StoredFile } from './file-store.js';

/** A file with its place. */
export interface OwnedFile {
  readonly scope: FileScope;
  readonly file: StoredFile;
}

/** Counts of erased files, and of erased uploads that were not whole. */
export interface ErasedFiles {
  readonly files: number;
  readonly uploads: number;
}

/** All that a file store has of one user. */
export interface OwnerFiles {
  /** The files of an owner in all agents and tenants, those that have expired included. */
  list(owner: OwnerQuery): AsyncIterable<OwnedFile>;
  /** Counts the files and uploads that `erase` would find. */
  count(owner: OwnerQuery): Promise<ErasedFiles>;
  /**
   * Erases files, uploads, and what crashes have left of them. A file that arrives meanwhile is refused or erased.
   * `agents`: ids of agents that the caller knows. With them a store finds what has no record of its owner.
   */
  erase(owner: OwnerQuery, agents: readonly string[]): Promise<ErasedFiles>;
}
