import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import { A2AError } from '../../errors/a2a-error.js';
import type { DeclaredFile } from '../../files/arriving-file.js';
import type { StoredFile } from '../../files/file-store.js';
import { readMediaType } from '../../files/media-type-rules.js';
import { digestField, readDigest, readFilename } from './file-headers.js';

/**
 * The file that the headers of an upload declare.
 * @throws A2AError INVALID_REQUEST naming the header that is wrong.
 */
export function declaredFile(request: ExchangeRequest): DeclaredFile {
  return {
    filename: readFilename(request.header('content-disposition')),
    mediaType: mediaTypeOf(request),
    size: numberIn(request, 'Content-Length'),
    digest: declaredDigest(request, request.header('content-digest') === undefined ? 'Repr-Digest' : 'Content-Digest'),
  };
}

/** The SHA-256 in a header of a request; `undefined` without the header. */
export function declaredDigest(request: ExchangeRequest, name: 'Content-Digest' | 'Repr-Digest'): string | undefined {
  const text = request.header(name.toLowerCase());
  if (text === undefined) return undefined;
  const digest = readDigest(text);
  if (digest === undefined) throw new A2AError('INVALID_REQUEST', `${name}: must have the form sha-256=:base64:`);
  return digest;
}

/** The number in a header of a request; `undefined` without the header. */
export function numberIn(request: ExchangeRequest, name: string): number | undefined {
  const text = request.header(name.toLowerCase());
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new A2AError('INVALID_REQUEST', `${name}: must be a number of bytes`);
  return Number(text);
}

/** The facts of a file in the JSON of an answer. */
export function fileDescription(file: StoredFile, url: string) {
  const { id, filename, mediaType, size, createdAt, expiresAt } = file;
  return {
    id,
    url,
    ...(filename !== undefined && { filename }),
    mediaType,
    size,
    digest: digestField(file),
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}

function mediaTypeOf(request: ExchangeRequest): string | undefined {
  const text = request.header('content-type');
  if (text === undefined || text.trim() === '') return undefined;
  const type = readMediaType(text);
  if (type === undefined) throw new A2AError('INVALID_REQUEST', 'Content-Type: must be a media type');
  return type;
}
