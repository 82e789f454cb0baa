import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import type { Clock } from '../../runtime/clock.js';

/** Not imported, for the reason given in `http-server.ts`. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');
/** Time for which the server still reads, so that the peer reads the answer. */
const LINGER_MS = 1_000;

/** The parts of the head of an answer. */
export interface Head {
  readonly answer: ExchangeResponse;
  readonly length?: number | undefined;
  /** True if the connection ends with this answer. */
  readonly closing: boolean;
}

/** An answer whose body is complete, and where it goes. */
interface WholeAnswer {
  readonly response: ServerResponse;
  readonly answer: ExchangeResponse;
  readonly closing: boolean;
}

/** An answer before all of its request has arrived. */
interface EarlyAnswer {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: ExchangeResponse;
  readonly clock: Clock;
}

/** The head of an answer as the flat list that node:http writes without further checks. */
export function headOf({ answer, length, closing }: Head): string[] {
  const head: string[] = [];
  for (const name in answer.headers) head.push(name, answer.headers[name] as string);
  if (length !== undefined) head.push('content-length', String(length));
  if (closing) head.push('connection', 'close');
  return head;
}

/** Writes an answer whose body is complete, in one write. */
export function sendWhole({ response, answer, closing }: WholeAnswer): void {
  const body = answer.body as string | Uint8Array | undefined;
  const length = lengthOf(answer.status, body);
  response.writeHead(answer.status, headOf({ answer, length, closing }));
  // ASCII text has the same bytes as Latin-1, which Node.js copies without a conversion.
  if (typeof body === 'string' && body.length === length) response.end(body, 'latin1');
  else response.end(body);
}

/**
 * Answers while the peer still sends a body that the server does not read. The answer is sent completely, and the
 * server drops the rest of the body for a moment, then closes the connection. Closing at once would reset the
 * connection, and the peer might lose the answer.
 */
export function sendEarly({ incoming, response, answer, clock }: EarlyAnswer): void {
  const body = answer.body as string | Uint8Array | undefined;
  response.writeHead(answer.status, headOf({ answer, length: lengthOf(answer.status, body), closing: true }));
  if (body === undefined || body.length === 0 || incoming.method === 'HEAD') response.flushHeaders();
  else response.write(body);
  const end = () => {
    cancel();
    incoming.off('end', end).off('close', end);
    // A session of HTTP/2 is shared, so one answer must not close it.
    if (incoming.httpVersionMajor === 1) closeGently(incoming.socket, clock);
    response.end();
  };
  const cancel = clock.after(LINGER_MS, end);
  incoming.on('error', () => {});
  incoming.on('end', end).on('close', end).resume();
}

/**
 * Closes a connection after the peer could read all answers. After the last response the server drops further bytes for
 * a moment, until the peer has closed, too (RFC 9112 §9.6). Closing with unread bytes would reset the connection, and
 * sent answers would be lost.
 */
export function closeGently(socket: Socket, clock: Clock): void {
  const destroySoon = () => {
    socket.removeAllListeners('data');
    socket
      .on('data', () => {})
      .resume()
      .end();
    socket.once(
      'close',
      clock.after(LINGER_MS, () => socket.destroy()),
    );
  };
  // node:http calls this after the last response of a connection.
  socket.destroySoon = destroySoon;
}

/** An answer on a connection that has no request, and the connection's end. */
export interface RawAnswer {
  readonly socket: Socket;
  readonly answer: ExchangeResponse;
  readonly clock: Clock;
  /** Called with the status of an answer that is sent. Absent: the exchange has counted it. */
  readonly refused?: ((status: number) => void) | undefined;
}

/** Answers bytes that are no request, if the socket is still writable, and closes the connection after a moment. */
export function sendRaw({ socket, answer, clock, refused }: RawAnswer): void {
  if (!socket.writable) return;
  const { status, body } = answer;
  refused?.(status);
  const head = headOf({ answer, length: lengthOf(status, body as string), closing: true });
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let at = 0; at < head.length; at += 2) text += `${head[at]}: ${head[at + 1]}\r\n`;
  socket.end(`${text}\r\n${body}`);
  socket.once(
    'close',
    clock.after(LINGER_MS, () => socket.destroy()),
  );
}

/** Options for dropping a peer that does not read its answer. */
interface StallOptions {
  /** Time in ms in which the peer must read something. */
  readonly stallMs: number;
  /** Drops the peer. */
  readonly drop: (response: ServerResponse) => void;
}

/** Drops a peer that reads nothing of its answer for `stallMs`. */
export function whenStalled({ response, stallMs, drop }: StallOptions & { readonly response: ServerResponse }): void {
  const watch = (socket: Socket) => {
    socket.setTimeout(stallMs);
    response.once('timeout', () => drop(response));
    // Prepended to run before node:http sets the keep-alive timeout.
    response.prependOnceListener('finish', () => socket.setTimeout(0));
  };
  if (response.socket === null) response.once('socket', watch);
  else watch(response.socket);
}

/** An answer of which the peer must read something. */
export interface AwaitedAnswer extends StallOptions {
  readonly response: ServerResponse;
  readonly clock: Clock;
}

/**
 * Drops a peer that does not read its pending answer within `stallMs`. The time begins when all earlier answers of the
 * connection are sent, because the peer cannot read this one before. The returned function ends the watch.
 */
export function dropUnlessTaken({ response, clock, stallMs, drop }: AwaitedAnswer): () => void {
  let cancel: (() => void) | undefined;
  const watch = () => {
    cancel = clock.after(stallMs, () => drop(response));
  };
  if (response.socket === null) response.once('socket', watch);
  else watch();
  return () => {
    response.off('socket', watch);
    cancel?.();
  };
}

/** 204 and 304 have no content, and so no length (RFC 9110 §8.6). */
function lengthOf(status: number, body: string | Uint8Array | undefined): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body !== undefined) return body.length;
  return status === 204 || status === 304 ? undefined : 0;
}
