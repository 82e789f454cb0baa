import type { Socket } from 'node:net';
import type { Logger } from 'parley-a2a';
import { checkedLookup, connectionFault, isPublicAddress, modulesOfNode, parseIp } from 'parley-a2a/binding-kit';
import { ConnectionError } from 'parley-a2a/kit';
import type { Clock } from 'parley-a2a/server';
import type { WebSocket } from 'ws';
import { WsSocketPort, type WsSocketPortOptions } from './ws-socket-port.js';

/** Options of a connection. */
interface WsClientOptions {
  /** True if only public addresses may be called. */
  readonly isPublicOnly: boolean;
  /** The longest message that is read, in bytes. */
  readonly messageBytes: number;
  /** Ends the attempt with its reason. */
  readonly signal: AbortSignal;
}

/** Opens a WebSocket. Rejects with a ConnectionError or the reason of the signal. */
type OpenWsClient = (address: string, options: WsClientOptions) => Promise<WsClientSocket>;

/** The ports of a connection. */
interface WsClientPorts {
  /** Its timers let the process end. */
  readonly clock: Clock;
  readonly logger: Logger;
}

type WsClass = new (address: string, options: object) => WebSocket;

/** Connections by the package `ws`. Undefined if it is not installed, and on other hosts than Node.js. */
export function wsClients(ports: WsClientPorts): OpenWsClient | undefined {
  const modules = modulesOfNode();
  const WebSocketOfWs = modules === undefined ? undefined : classOfWs();
  if (modules === undefined || WebSocketOfWs === undefined) return undefined;
  return (address, { isPublicOnly, messageBytes, signal }) => {
    signal.throwIfAborted();
    const url = new URL(address);
    const check = (_: unknown, ip: string): boolean => isPublicIp(ip);
    const socket = new WebSocketOfWs(address, {
      maxPayload: messageBytes,
      // Off, because a small compressed message could expand to a huge one.
      perMessageDeflate: false,
      autoPong: false,
      ...(isPublicOnly && { lookup: checkedLookup({ url, check, lookup: modules.lookup }) }),
    });
    return waitUntilOpen(socket, { ...ports, signal });
  };
}

/** True for the text of a public address. */
export function isPublicIp(text: string): boolean {
  const address = parseIp(text);
  return address !== undefined && isPublicAddress(address);
}

/** Loads `ws` without an import that bundlers see, because pages must not contain it. */
function classOfWs(): WsClass | undefined {
  try {
    const { createRequire } = globalThis.process.getBuiltinModule('node:module');
    return (createRequire(import.meta.url)('ws') as { WebSocket: WsClass }).WebSocket;
  } catch {
    return undefined;
  }
}

interface Opening extends WsClientPorts {
  readonly signal: AbortSignal;
}

function waitUntilOpen(webSocket: WebSocket, { signal, clock, logger }: Opening): Promise<WsClientSocket> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason);
      webSocket.terminate();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    webSocket.once('upgrade', ({ socket }) => {
      // The port is made before the WebSocket opens, because the first message may come with the answer to the upgrade.
      const port = new WsClientSocket({ webSocket, socket, clock, logger });
      webSocket.once('open', () => {
        signal.removeEventListener('abort', onAbort);
        resolve(port);
      });
    });
    webSocket.on('error', (cause: Error) => {
      signal.removeEventListener('abort', onAbort);
      connectionFault(cause).then(({ reason }) => {
        reject(new ConnectionError(`No WebSocket could be opened: ${reason}`, { sent: false, cause }));
      });
    });
  });
}

/** A WebSocket of a client. */
class WsClientSocket extends WsSocketPort {
  readonly #connection: Socket;

  constructor(options: WsSocketPortOptions) {
    super(options);
    this.#connection = options.socket;
  }

  /** Lets the process end although the socket is open, until `ref`. */
  unref(): void {
    this.#connection.unref();
  }

  ref(): void {
    this.#connection.ref();
  }
}
