import type { WireCodec } from '../../codec/wire-codec.js';
import type { ExchangeRequest } from '../http/exchange.js';
import { EVENT_STREAM_TYPE, names } from '../http/media-type.js';

/**
 * True if this client needs an error before the first event as an event stream with one error frame. The rule is a
 * plain JSON answer. The official JavaScript client makes typed errors of nothing else, and the official compatibility
 * kit refuses an event stream. Two kinds of clients show no plain answer: that of the Go SDK, and the official ones of
 * versions before 1.0. The latter ask for an event stream in `Accept`.
 */
export function readsOnlyStreams(request: ExchangeRequest, codec: WireCodec | undefined): boolean {
  if (isGoClient(request)) return true;
  return codec?.framesErrors === true && names(request.header('accept'), EVENT_STREAM_TYPE);
}

/**
 * True if this client needs the `data` of an error as an object that holds the details. The client of the Go SDK for
 * versions before 1.0 drops an error whose `data` is an array.
 */
export function readsObjectData(request: ExchangeRequest, codec: WireCodec | undefined): boolean {
  return codec?.framesErrors === true && isGoClient(request);
}

function isGoClient(request: ExchangeRequest): boolean {
  const agent = request.header('user-agent') ?? '';
  return agent.startsWith('Go-http-client') || agent.includes('a2a-go');
}
