import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newWebSocketRpcSession, RpcTarget } from 'capnweb';
import { type WebSocket, WebSocketServer } from 'ws';

/** An answer of a peer: a value, an error, or nothing at all. */
export type PeerAnswer = (request: never, options: never) => unknown;

/** A login that a peer received. */
export interface ReceivedHello {
  readonly parameters: Readonly<Record<string, string>>;
  readonly tenant?: string;
  readonly credential?: { readonly scheme: string; readonly value: string };
}

/** The behaviour of a peer. */
export interface PeerScript {
  /** Throws if it refuses the caller. */
  readonly authenticate?: (hello: ReceivedHello) => void;
  /** Answers by the name of the method. */
  readonly methods?: Readonly<Record<string, PeerAnswer>>;
}

/** The end of a feed, with a record of its closing. */
export class PeerSubscription extends RpcTarget {
  readonly #closed: () => void;

  constructor(closed: () => void) {
    super();
    this.#closed = closed;
  }

  close(): void {
    this.#closed();
  }

  [Symbol.dispose](): void {
    this.#closed();
  }
}

/** A server on the stock library of Cap'n Web and `ws`, without code of ours. */
export class CapnwebPeer implements AsyncDisposable {
  readonly hellos: ReceivedHello[] = [];
  /** Text messages of all clients, in order. */
  readonly frames: string[] = [];
  readonly sockets = new Set<WebSocket>();
  /** Paths and queries of the upgrade requests. */
  readonly addresses: string[] = [];
  connections = 0;
  readonly #http = createServer();
  readonly #server = new WebSocketServer({ server: this.#http });

  private constructor(script: PeerScript, raw?: (socket: WebSocket) => void) {
    this.#server.on('connection', (socket, { url = '' }) => {
      this.addresses.push(url);
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('message', (data) => this.frames.push(String(data)));
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => {});
      if (raw !== undefined) raw(socket);
      else newWebSocketRpcSession(socket as never, entranceOf(script, this.hellos));
    });
  }

  /** Listens on a free port. */
  static async open(script: PeerScript = {}): Promise<CapnwebPeer> {
    return CapnwebPeer.#listening(new CapnwebPeer(script));
  }

  /** Listens without sessions: `raw` gets each socket. */
  static async raw(raw: (socket: WebSocket) => void): Promise<CapnwebPeer> {
    return CapnwebPeer.#listening(new CapnwebPeer({}, raw));
  }

  static async #listening(peer: CapnwebPeer): Promise<CapnwebPeer> {
    await new Promise<void>((resolve) => peer.#http.listen(0, '127.0.0.1', resolve));
    return peer;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/capnweb`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    this.#server.close();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}

function entranceOf({ authenticate, methods = {} }: PeerScript, hellos: ReceivedHello[]): RpcTarget {
  class Agent extends RpcTarget {}
  for (const [name, answer] of Object.entries(methods)) {
    Object.defineProperty(Agent.prototype, name, { value: answer });
  }
  class Entrance extends RpcTarget {
    authenticate(hello: ReceivedHello): Agent {
      hellos.push(hello);
      authenticate?.(hello);
      return new Agent();
    }

    ping(): 'pong' {
      return 'pong';
    }
  }
  return new Entrance();
}

/** An error of the binding, as a peer sends it. */
export function peerError(reason: string, more: Readonly<Record<string, unknown>> = {}): Error {
  return Object.assign(new Error(`It is ${reason}`), { reason, domain: 'a2a-protocol.org', ...more });
}
