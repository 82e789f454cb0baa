import type * as Http from 'node:http';
import type { LookupFunction } from 'node:net';
import { RefusedAddressError } from '../../errors/refused-address-error.js';
import { destinationOf } from '../../net/destinations.js';
import type { AddressCheck, CheckedConnections } from '../../net/guarded-fetch.js';
import { modulesOfNode, type NameLookup, type NodeModules } from './modules-of-node.js';

/** Options of `checkedConnections`. */
export interface CheckedConnectionsOptions {
  /** Default: the resolver of the machine. */
  readonly lookup?: NameLookup;
  /** Authorities of server certificates, as PEM. Default: those of Node.js. */
  readonly ca?: string | readonly string[];
}

const IDLE_MS = 10_000;
/** Maximum number of buffered body bytes. A peer may send a chunk for each of them. */
const WAITING_BYTES = 16_384;
const RESET_CONTENT = 205;
const NO_BODY = new Set([204, RESET_CONTENT, 304]);
/** Real servers send one or two before their answer. */
const MOST_INTERIM = 8;
/** Headers of the connection, and those that would make the body ambiguous. The client of Node.js sets them. */
const OF_CONNECTION =
  /^(?:connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Connections of Node.js that check their address after the name look-up, when they are opened. So a later change of
 * DNS has no effect (DNS rebinding). Undefined on hosts without such connections.
 */
export function checkedConnections(options: CheckedConnectionsOptions = {}): CheckedConnections | undefined {
  const modules = modulesOfNode();
  if (modules === undefined) return undefined;
  const { http, https } = modules;
  return (check) => {
    const { plain, secure, lookup } = connectionPools(modules, options);
    return async (address, init) => {
      const url = new URL(address);
      const body = await bodyOf(init.body);
      const given = [...new Headers(init.headers)].filter(([name]) => !OF_CONNECTION.test(name));
      const headers: Record<string, string> = Object.fromEntries(given);
      if (body !== undefined) headers['content-length'] = String(body.length);
      const { signal } = init;
      signal?.throwIfAborted();
      const isSecure = url.protocol === 'https:';
      const request = (isSecure ? https : http).request(url, {
        method: init.method ?? 'GET',
        headers,
        agent: isSecure ? secure : plain,
        lookup: checkedLookup({ url, check, lookup }),
      });
      return new Promise<Response>((resolve, reject) => {
        // Node.js throws the error of an abort outside of all handlers if the answer has arrived and is not read yet.
        const stop = (): void => {
          reject(signal?.reason);
          request.destroy();
        };
        signal?.addEventListener('abort', stop, { once: true });
        request.on('close', () => signal?.removeEventListener('abort', stop));
        request.on('error', reject);
        requireAnswer(request, reject);
        request.on('response', (answer) => {
          try {
            resolve(responseOf(answer, request, signal));
          } catch (error) {
            request.destroy();
            reject(error);
          }
        });
        request.end(body);
      });
    };
  };
}

/** Ends a request that is answered by another protocol or by too many interim answers (RFC 9110 §15.2). */
export function requireAnswer(request: Http.ClientRequest, reject: (error: Error) => void): void {
  let interim = 0;
  request.on('information', () => {
    interim += 1;
    if (interim > MOST_INTERIM) request.destroy(new Error('The answer is interim again and again'));
  });
  // Node.js hands over the connection, and no further event of the request follows.
  request.on('upgrade', (_, socket) => {
    socket.destroy();
    reject(new Error('The answer changes the protocol'));
  });
}

/** Pools of connections, each checked when it was opened. Every check needs pools of its own. */
export function connectionPools({ http, https, lookup: ofSystem }: NodeModules, options: CheckedConnectionsOptions) {
  const { ca, lookup = ofSystem } = options;
  const pool = { keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS, readableHighWaterMark: WAITING_BYTES } as const;
  return {
    plain: new http.Agent(pool),
    secure: new https.Agent({ ...pool, ...(ca !== undefined && { ca: [ca].flat() }) }),
    lookup,
  };
}

/**
 * A look-up that fails if one of the addresses is not allowed. Node.js connects only to the addresses that it returns.
 */
export function checkedLookup({
  url,
  check,
  lookup,
}: {
  readonly url: URL;
  readonly check: AddressCheck;
  readonly lookup: NameLookup;
}): LookupFunction {
  const destination = destinationOf(url);
  return (name, { all }, callback) => {
    lookup(name).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) callback(notFound(name), '', 4);
        else if (!addresses.every(({ address }) => check(destination, address)))
          callback(new RefusedAddressError(`${url.origin} is not called: its name leads to no allowed address`), '', 4);
        else if (all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, '', 4),
    );
  };
}

function notFound(name: string): Error {
  return Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
}

async function bodyOf(body: RequestInit['body']): Promise<Uint8Array | undefined> {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  return new Uint8Array(await new Response(body).arrayBuffer());
}

function responseOf(
  answer: Http.IncomingMessage,
  request: Http.ClientRequest,
  signal: RequestInit['signal'],
): Response {
  const { statusCode: status = 0, rawHeaders } = answer;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const isEmpty = NO_BODY.has(status) || request.method === 'HEAD' || headers.get('content-length') === '0';
  // The parser of Node.js would read a body after this status.
  if (status === RESET_CONTENT) request.destroy();
  else if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : streamOf(answer, request, signal), { status, headers });
}

/** The body of an answer with back-pressure. Read it to the end, so that its connection can be reused. */
function streamOf(
  answer: Http.IncomingMessage,
  request: Http.ClientRequest,
  signal: RequestInit['signal'],
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isDone = false;
  let isWanted = false;
  let take = (): void => {};
  return new ReadableStream(
    {
      start: (controller) => {
        // One read returns all chunks that have arrived: a peer may send a chunk for each byte.
        take = () => {
          if (isDone || !isWanted) return;
          const bytes = answer.read() as Uint8Array<ArrayBuffer> | null;
          if (bytes === null) return;
          isWanted = false;
          controller.enqueue(bytes);
        };
        answer.on('readable', take);
        const fail = (error: unknown): void => {
          if (!isDone) controller.error(error);
          isDone = true;
        };
        const stop = (): void => fail(signal?.reason);
        signal?.addEventListener('abort', stop, { once: true });
        answer.on('close', () => signal?.removeEventListener('abort', stop));
        answer.on('end', () => {
          if (!isDone) controller.close();
          isDone = true;
        });
        answer.on('error', fail);
      },
      pull: () => {
        isWanted = true;
        take();
      },
      cancel: () => {
        if (!isDone) request.destroy();
        isDone = true;
      },
    },
    { highWaterMark: 0 },
  );
}
