import { type ContentEncoding, EncodingChoice } from '../../bindings/http/accept-encoding.js';
import type { Exchange, ExchangeResponse } from '../../bindings/http/exchange.js';
import { EVENT_STREAM_TYPE, essence } from '../../bindings/http/media-type.js';
import { answersCard } from '../../operations/operations.js';
import { count, eitherOf, flag, optionObject } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { varying } from './answer-headers.js';

/** The settings of compression. */
export interface CompressionOptions {
  /** From 1, the fastest, to 9, the smallest; default 6. Only on hosts that let it be chosen. */
  readonly gzipLevel?: number;
  /** From 0 to 11; default 4, about as fast as gzip at 6. Only on hosts with Brotli that let it be chosen. */
  readonly brotliQuality?: number;
  /** Answers up to this length go out as they are; default 1024 characters. */
  readonly minimumLength?: number;
}

/** The schema of `compression` of a server. */
export const compressionSchema = eitherOf(
  [
    flag,
    optionObject({
      gzipLevel: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
      brotliQuality: Type.Optional(Type.Integer({ minimum: 0, maximum: 11 })),
      minimumLength: Type.Optional(count),
    }),
  ],
  'must be true, false, or an object with gzipLevel (1 to 9), brotliQuality (0 to 11), minimumLength',
);

/** The port for the compression of bodies. Every host has its own implementation. */
export interface Compressor {
  /** The encodings of the host, the preferred one first. */
  readonly encodings: readonly ContentEncoding[];
  compress(body: string | Uint8Array, encoding: ContentEncoding): Promise<Uint8Array>;
}

/** A compressor, and the length of the answers that it compresses. */
export interface Compression {
  readonly compressor: Compressor;
  readonly minimumLength: number;
}

/** The default of `minimumLength`, in characters. Answers up to it fit into one Ethernet frame. */
export const MINIMUM_LENGTH = 1024;

const COMPRESSIBLE =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|javascript|openmetrics-text|yaml)|image\/svg\+xml)$/;

/**
 * The exchange with compression of longer answers, for clients that accept it. Event streams, agent cards and partial
 * answers go out as they are.
 */
export function withCompression(exchange: Exchange, { compressor, minimumLength }: Compression): Exchange {
  const choice = new EncodingChoice(compressor.encodings);
  return async (request) => {
    const answer = await exchange(request);
    if (answer.status === 304) return isVerbatim(answer) ? answer : varying(answer, 'Accept-Encoding');
    const { body } = answer;
    const length = typeof body === 'string' || body instanceof Uint8Array ? body.length : 0;
    if (length <= minimumLength || !isCompressible(answer)) return answer;
    const encoding = choice.of(request.header('accept-encoding'));
    const told = varying(answer, 'Accept-Encoding');
    return encoding === undefined ? told : compressAnswer(told, compressor, encoding);
  };
}

function isVerbatim({ verbatim, call }: ExchangeResponse): boolean {
  return verbatim === true || (call?.operation !== undefined && answersCard(call.operation));
}

function isCompressible(answer: ExchangeResponse): boolean {
  const { status, headers } = answer;
  if (isVerbatim(answer) || status === 206) return false;
  if ('content-encoding' in headers || 'content-range' in headers) return false;
  if (headers['cache-control']?.includes('no-transform')) return false;
  const type = essence(headers['content-type']);
  // An error may be a stream of one frame.
  return type !== EVENT_STREAM_TYPE && COMPRESSIBLE.test(type);
}

async function compressAnswer(
  answer: ExchangeResponse,
  compressor: Compressor,
  encoding: ContentEncoding,
): Promise<ExchangeResponse> {
  const whole = answer.body as string | Uint8Array;
  const body = await compressor.compress(whole, encoding).catch(() => undefined);
  // A body that does not get shorter goes out as it is.
  if (body === undefined || body.length >= whole.length) return answer;
  const { etag, 'content-length': _, 'accept-ranges': __, ...headers } = answer.headers;
  const tag = etag === undefined ? undefined : etag.startsWith('W/') ? etag : `W/${etag}`;
  return {
    ...answer,
    headers: { ...headers, ...(tag !== undefined && { etag: tag }), 'content-encoding': encoding },
    body,
  };
}
