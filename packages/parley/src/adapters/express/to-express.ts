import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { Exchange } from '../../bindings/http/exchange.js';
import { payloadTooLarge } from '../../bindings/http/read-chunks.js';
import { A2AError } from '../../errors/a2a-error.js';
import { MountedRequest } from '../node/mounted-request.js';
import { NodeExchangeRequest } from '../node/node-exchange-request.js';
import { Responder, type ResponderOptions } from '../node/responder.js';

type Body = (limit: number) => Promise<Uint8Array>;

/** An exchange, and the ports that write its answers and report its limits. */
interface ExpressAdapterOptions extends ResponderOptions {
  readonly exchange: Exchange;
  readonly limitReached: NonNullable<ResponderOptions['limitReached']>;
}

/**
 * Makes middleware of Express from an exchange. It answers every request below the path of its mount. The second
 * handler answers requests that an earlier body parser has refused, in the form of the exchange.
 */
export function toExpress(options: ExpressAdapterOptions): [RequestHandler, ErrorRequestHandler] {
  const responder = new Responder(options);
  const respond = (incoming: Request, response: Parameters<RequestHandler>[1], body: Body | undefined) => {
    const arrived = new NodeExchangeRequest({ incoming, response, expectsContinue: false });
    const chunks = body === undefined ? undefined : parsedChunks(incoming, body);
    const request = new MountedRequest({ arrived, mount: incoming.baseUrl, path: arrived.path, body, chunks });
    responder.deliver({ incoming, response, request }, options.exchange(request));
  };
  return [
    (request, response) => respond(request, response, parsedBody(request)),
    (error, request, response, next) => {
      const body = refusedBody(error);
      if (body === undefined) next(error);
      else respond(request, response, body);
    },
  ];
}

const encoder = new TextEncoder();

/** The body from a body parser; `undefined` if no parser has read it. */
function parsedBody(request: Request): Body | undefined {
  // Parsers also return an object for an empty body.
  if (request.headers['content-length'] === '0') return async () => new Uint8Array(0);
  if (!request.readableDidRead) return undefined;
  const { body } = request as { body?: unknown };
  if (body === undefined) return unreadable('The request body was read by something else on this server');
  return async (limit) => {
    const bytes = body instanceof Uint8Array ? body : encoder.encode(typeof body === 'string' ? body : asJson(body));
    if (bytes.length > limit) throw payloadTooLarge(limit);
    return bytes;
  };
}

/** The raw bytes that a body parser has kept, or its refusal; `undefined` if it has parsed them. */
function parsedChunks(request: Request, body: Body): (() => AsyncIterable<Uint8Array>) | undefined {
  const { body: parsed } = request as { body?: unknown };
  const { 'content-length': length, 'content-encoding': coding } = request.headers;
  const isEmpty = length === '0';
  // The parser has decoded the bytes.
  if (!isEmpty && coding !== undefined && !/^identity$/i.test(coding)) return undefined;
  if (parsed !== undefined && !isEmpty && !(parsed instanceof Uint8Array)) return undefined;
  return async function* () {
    yield await body(Number.POSITIVE_INFINITY);
  };
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new A2AError('INVALID_REQUEST', 'The JSON is nested too deeply', {}, { cause });
  }
}

/** Codes of `node:zlib` for invalid compressed bytes: gzip and deflate, Brotli, Zstandard. */
const UNDECODED = /^(?:Z_|ERR__|ZSTD_)/;

/** The body that a body parser has refused; `undefined` for other errors. */
function refusedBody(error: unknown): Body | undefined {
  const { type, body, limit, code } = error as Readonly<Record<'type' | 'body' | 'limit' | 'code', unknown>>;
  if (typeof code === 'string' && UNDECODED.test(code)) return unreadable('The request body cannot be decompressed');
  switch (type) {
    case 'entity.too.large':
      return async () => {
        throw payloadTooLarge(Number(limit));
      };
    case 'entity.parse.failed':
      return async () => encoder.encode(String(body));
    case 'request.aborted':
    case 'request.size.invalid':
      return unreadable('The request body ended early');
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return unreadable('The encoding of the request body is not supported');
    default:
      return undefined;
  }
}

function unreadable(message: string): Body {
  return async () => {
    throw new A2AError('INVALID_REQUEST', message);
  };
}
