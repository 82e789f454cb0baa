import type { FileStore } from 'parley-a2a/files';
import {
  checkOptions,
  count,
  eitherOf,
  func,
  type OptionSchemas,
  optionObject,
  positive,
  systemClock,
  systemIds,
  Type,
  text,
} from 'parley-a2a/kit';
import type { S3Credentials } from './s3-bucket.js';
import { S3FileStore, type S3FileStoreOptions } from './s3-file-store.js';

export type { FileStore } from 'parley-a2a/files';
export type { S3BucketOptions, S3Credentials } from './s3-bucket.js';
export type { S3FileStoreOptions } from './s3-file-store.js';

const amount = Type.Optional(positive);
const credentials: OptionSchemas<S3Credentials> = {
  accessKeyId: text,
  secretAccessKey: text,
  sessionToken: Type.Optional(text),
};
const schemas: OptionSchemas<S3FileStoreOptions> = {
  bucketUrl: text,
  region: text,
  credentials: eitherOf([optionObject(credentials), func], 'must be an object, or a function'),
  prefix: Type.Optional(text),
  requestMs: amount,
  retries: Type.Optional(count),
  partBytes: amount,
  parallel: amount,
  restMs: amount,
};

/**
 * Files in a bucket of S3, or of a compatible server, for any number of processes.
 * @throws OptionsError naming every option that is wrong.
 */
export function s3FileStore(options: S3FileStoreOptions): FileStore {
  checkOptions({ subject: 's3FileStore', schema: optionObject(schemas), options });
  return new S3FileStore(options, { clock: systemClock, ids: systemIds, fetch: (url, init) => fetch(url, init) });
}
