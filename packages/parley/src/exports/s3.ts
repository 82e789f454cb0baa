import type { FileStore } from '../files/file-store.js';
import { S3FileStore, type S3FileStoreOptions } from '../files/s3/s3-file-store.js';
import { systemClock, systemIds } from './runtime.js';

export { OptionsError } from '../errors/options-error.js';
export type { FileStore } from '../files/file-store.js';
export type { S3BucketOptions, S3Credentials } from '../files/s3/s3-bucket.js';
export type { S3FileStoreOptions } from '../files/s3/s3-file-store.js';

/**
 * Files in a bucket of S3, or of a server that speaks its protocol, for any number of processes. Needs the package
 * `aws4fetch`.
 * @throws OptionsError naming every option that is wrong.
 */
export function s3FileStore(options: S3FileStoreOptions): FileStore {
  return new S3FileStore(options, { clock: systemClock, ids: systemIds, fetch: (url, init) => fetch(url, init) });
}
