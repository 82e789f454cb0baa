import { Readable } from 'node:stream';
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import type { Exchange, ExchangeRequest } from '../../bindings/http/exchange.js';
import { readChunks } from '../../bindings/http/read-chunks.js';
import { MountedRequest } from '../node/mounted-request.js';
import { NodeExchangeRequest } from '../node/node-exchange-request.js';
import { Responder, type ResponderOptions } from '../node/responder.js';

/** An exchange, and the ports that write its answers and report its limits. */
export interface FastifyAdapterOptions extends ResponderOptions {
  readonly exchange: Exchange;
  readonly limitReached: NonNullable<ResponderOptions['limitReached']>;
}

/** The prefix of error codes with which Fastify refuses a body. */
const BODY_ERROR = 'FST_ERR_CTP_';

/**
 * An exchange as a plugin of Fastify, which answers everything below its `prefix`. Content type parsers and error
 * handlers of its own are encapsulated; hooks of the application run, but for `onSend`: the exchange writes its answers
 * itself.
 */
export function toFastify(options: FastifyAdapterOptions): FastifyPluginCallback {
  const responder = new Responder(options);
  return (instance, _options, done) => {
    const depth = instance.prefix === '' ? 0 : instance.prefix.split('/').length - 1;
    const respond = (fastifyRequest: FastifyRequest, reply: FastifyReply) => {
      const { raw: incoming, body } = fastifyRequest;
      const { raw: response } = reply.hijack();
      // Headers that plugins have set, such as those for CORS.
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) response.setHeader(name, value);
      }
      const arrived = new NodeExchangeRequest({ incoming, response, expectsContinue: false });
      const { mount, path } = splitAfter(arrived.path, depth);
      // HTTP/2 requests may have a body without announcing it.
      const plain = body === incoming && incoming.httpVersionMajor === 1;
      const taken = plain ? undefined : streamOf(body);
      const request = new MountedRequest({
        arrived,
        mount,
        path,
        ...(taken && { body: bodyOf(taken), chunks: taken }),
      });
      responder.deliver({ incoming, response, request }, options.exchange(request));
    };
    // The exchange reads the body itself, under its own limit.
    instance.removeAllContentTypeParsers();
    instance.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
    instance.setErrorHandler((error, request, reply) => {
      if (!isBodyError(error)) throw error;
      respond(request, reply);
    });
    instance.all('/', respond);
    instance.all('/*', respond);
    done();
  };
}

/** Splits a path after the segments of the prefix, which may have parameters. */
function splitAfter(path: string, depth: number): { readonly mount: string; readonly path: string } {
  const segments = path.split('/');
  return { mount: segments.slice(0, depth + 1).join('/'), path: `/${segments.slice(depth + 1).join('/')}` };
}

/** Opens the body as a stream: the request, or the stream with which a hook of the application has replaced it. */
function streamOf(payload: unknown): (() => AsyncIterable<Uint8Array>) | undefined {
  if (!(payload instanceof Readable)) return undefined;
  // The stream stays open, so that a request refused in the middle of its body gets an answer.
  return () => payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
}

function bodyOf(chunks: () => AsyncIterable<Uint8Array>): ExchangeRequest['body'] {
  return (limit, meter) => readChunks(chunks(), limit, meter);
}

function isBodyError(error: unknown): boolean {
  return String((error as { code?: unknown } | null)?.code).startsWith(BODY_ERROR);
}
