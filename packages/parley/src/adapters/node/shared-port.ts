import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../runtime/clock.js';

/** The first bytes of an HTTP/2 connection; no request of HTTP/1.1 has them (RFC 9113 §3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n');

/** A server whose connections of HTTP/2 another server takes. */
interface SharedPort {
  readonly server: HttpServer;
  /** The event for a connection that is ready to be read. */
  readonly event: 'connection' | 'secureConnection';
  /** Takes a connection of HTTP/2. Its first bytes can be read again. */
  readonly takeHttp2: (socket: Socket) => void;
  /** The longest time for the first bytes, in ms. */
  readonly firstBytesMs: number;
  /** Called for each connection whose first bytes come too late. */
  readonly isLate: (socket: Socket) => void;
  readonly clock: Clock;
}

/**
 * Separates the connections of HTTP/2 from those of HTTP/1.1: by ALPN, or by their first bytes. Those of HTTP/1.1 stay
 * with the server.
 */
export function sharePort({ server, event, takeHttp2, firstBytesMs, isLate, clock }: SharedPort): void {
  const own = server.listeners(event) as ((this: HttpServer, socket: Socket) => void)[];
  const serve = (socket: Socket) => {
    for (const listener of own) listener.call(server, socket);
  };
  server.removeAllListeners(event);
  server.on(event, (socket: Socket) => {
    const { alpnProtocol } = socket as Partial<Pick<TLSSocket, 'alpnProtocol'>>;
    if (alpnProtocol === 'h2') {
      // A client must not replace its certificate on a connection.
      (socket as TLSSocket).disableRenegotiation();
      return takeHttp2(socket);
    }
    if (typeof alpnProtocol === 'string') return serve(socket);
    let isKnown = false;
    const stop = whenKnown(socket, (isHttp2) => {
      isKnown = true;
      stopTimer();
      if (isHttp2) return takeHttp2(socket);
      serve(socket);
      socket.resume();
    });
    // A process that stood still first reads the bytes that have arrived meanwhile.
    const stopTimer = clock.after(firstBytesMs, () => {
      clock.soon(() => {
        if (isKnown || socket.destroyed) return;
        stop();
        isLate(socket);
        socket.destroy();
      });
    });
    socket.once('close', stopTimer);
  });
}

/** Reads the first bytes of a connection, puts them back, and reports whether they begin HTTP/2. */
function whenKnown(socket: Socket, known: (isHttp2: boolean) => void): () => void {
  let first: Buffer = Buffer.alloc(0);
  const ignore = () => {};
  const stop = () => {
    socket.off('data', read).off('end', end).off('error', ignore);
  };
  const decide = (isHttp2: boolean) => {
    stop();
    socket.pause();
    if (first.length > 0) socket.unshift(first);
    known(isHttp2);
  };
  const read = (chunk: Buffer) => {
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk]);
    const length = Math.min(first.length, PREFACE.length);
    if (!first.subarray(0, length).equals(PREFACE.subarray(0, length))) decide(false);
    else if (length === PREFACE.length) decide(true);
  };
  const end = () => {
    stop();
    socket.destroy();
  };
  socket.on('data', read).on('end', end).on('error', ignore);
  return stop;
}
