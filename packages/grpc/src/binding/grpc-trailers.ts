import type { A2AError, ErrorCode } from 'parley-a2a';
import { type ErrorWords, errorDetails, isLegacy } from 'parley-a2a/binding-kit';
import { encodeStatus } from '../protobuf/status.js';
import { statusMessage } from './grpc-message.js';
import { grpcStatusOf } from './grpc-status.js';

/** Header fields of HTTP/2. */
export type Fields = Readonly<Record<string, string>>;

/** Headers of answers that concern caches of HTTP only. */
const HTTP_ONLY: ReadonlySet<string> = new Set(['cache-control', 'vary', 'content-type', 'allow']);
const NONE: Fields = Object.freeze({});

/** The headers of a direct reply as metadata: extensions, challenges, ids of requests, the time until a retry. */
export function metadataOf(headers: Fields): Fields {
  let metadata: Record<string, string> | undefined;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || HTTP_ONLY.has(name)) continue;
    metadata ??= {};
    metadata[name] = value;
  }
  return metadata ?? NONE;
}

/** The trailers of a plain status without details. */
export function plainTrailers(code: number, message: string): Fields {
  return { 'grpc-status': String(code), 'grpc-message': statusMessage(message) };
}

/** The version of a call, and its codec for error texts. */
interface ErrorVoice {
  readonly version: string;
  wordsOf?(error: A2AError): ErrorWords;
}

/** The trailers of an error. Before 1.0 the text begins with the name of the error, which no other field contains. */
export function errorTrailers(error: A2AError, voice: ErrorVoice): Fields {
  const { reason, message } = voice.wordsOf?.(error) ?? { reason: error.code, message: error.message };
  const code = grpcStatusOf(error.code, voice.version);
  const told = isLegacy(voice.version) ? `${nameOf(error.code, reason)}: ${message}` : message;
  const details = encodeStatus({ code, message: told, details: errorDetails(error, reason) });
  return { ...plainTrailers(code, told), 'grpc-status-details-bin': base64(details) };
}

const NAMES: { readonly [Code in ErrorCode]?: string } = {
  PARSE_ERROR: 'JSONParseError',
  INTERNAL_ERROR: 'InternalError',
};

function nameOf(code: ErrorCode, reason: string): string {
  const words = reason.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return NAMES[code] ?? `${words.join('')}Error`;
}

/** Binary metadata needs no padding, and receivers accept both forms. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
