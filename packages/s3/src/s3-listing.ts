import type { S3Bucket } from './s3-bucket.js';

/** An object in a list. */
interface ListedObject {
  /** Without the prefix of the store. */
  readonly key: string;
  /** ms since the epoch. */
  readonly modifiedAt: number;
}

/** An unfinished multipart upload. */
interface OpenUpload {
  /** Without the prefix of the store. */
  readonly key: string;
  readonly uploadId: string;
  /** ms since the epoch. */
  readonly beganAt: number;
}

/** A part of a multipart upload. */
export interface ListedPart {
  readonly number: number;
  /** In bytes. */
  readonly size: number;
  readonly etag: string;
}

/** Lists objects in the order of their keys, page by page. */
export async function* listedObjects(bucket: S3Bucket, folder: string, most = 1000): AsyncGenerator<ListedObject> {
  let token: string | undefined;
  do {
    const query = { 'list-type': '2', prefix: bucket.prefix + folder, 'max-keys': String(most) };
    const more = token === undefined ? query : { ...query, 'continuation-token': token };
    const page: string = (await bucket.text({ method: 'GET', query: more })) ?? '';
    for (const entry of elements(page, 'Contents')) {
      const key = ownKey(bucket, entry);
      if (key !== undefined) yield { key, modifiedAt: Date.parse(element(entry, 'LastModified') ?? '') };
    }
    token = element(page, 'IsTruncated') === 'true' ? element(page, 'NextContinuationToken') : undefined;
  } while (token !== undefined && most === 1000);
}

/** Lists the folders in a folder, each with a slash at its end. */
export async function* listedFolders(bucket: S3Bucket, folder: string): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const query = { 'list-type': '2', prefix: bucket.prefix + folder, delimiter: '/' };
    const more = token === undefined ? query : { ...query, 'continuation-token': token };
    const page: string = (await bucket.text({ method: 'GET', query: more })) ?? '';
    for (const entry of elements(page, 'CommonPrefixes')) {
      const prefix = element(entry, 'Prefix');
      if (prefix?.startsWith(bucket.prefix) === true) yield prefix.slice(bucket.prefix.length);
    }
    token = element(page, 'IsTruncated') === 'true' ? element(page, 'NextContinuationToken') : undefined;
  } while (token !== undefined);
}

/** Lists unfinished multipart uploads: the first thousand. */
export async function openUploads(bucket: S3Bucket, folder: string): Promise<readonly OpenUpload[]> {
  const page = (await bucket.text({ method: 'GET', query: { uploads: '', prefix: bucket.prefix + folder } })) ?? '';
  return elements(page, 'Upload').flatMap((entry) => {
    const key = ownKey(bucket, entry);
    const uploadId = element(entry, 'UploadId');
    if (key === undefined || uploadId === undefined) return [];
    return { key, uploadId, beganAt: Date.parse(element(entry, 'Initiated') ?? '') };
  });
}

/** Lists the parts of a multipart upload in their order; `undefined` if it is finished. */
export async function listedParts(
  bucket: S3Bucket,
  key: string,
  uploadId: string,
): Promise<readonly ListedPart[] | undefined> {
  const parts: ListedPart[] = [];
  for (let after = '0'; ; ) {
    const query = { uploadId, 'part-number-marker': after };
    const page = await bucket.text({ method: 'GET', key, query });
    if (page === undefined) return undefined;
    for (const entry of elements(page, 'Part')) {
      const etag = element(entry, 'ETag');
      const [number, size] = [Number(element(entry, 'PartNumber')), Number(element(entry, 'Size'))];
      if (etag !== undefined) parts.push({ number, size, etag });
    }
    const next = element(page, 'NextPartNumberMarker');
    if (element(page, 'IsTruncated') !== 'true' || next === undefined || !(Number(next) > Number(after))) return parts;
    after = next;
  }
}

/** The text of the first element with a name. */
export function element(xml: string, name: string): string | undefined {
  const [text] = elements(xml, name);
  return text?.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function elements(xml: string, name: string): readonly string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => rest.slice(0, Math.max(rest.indexOf(`</${name}>`), 0)));
}

function ownKey({ prefix }: S3Bucket, entry: string): string | undefined {
  const key = element(entry, 'Key');
  return key?.startsWith(prefix) === true ? key.slice(prefix.length) : undefined;
}
