import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { RefusedAddressError } from '../../errors/refused-address-error.js';
import type { Destinations } from '../../net/destinations.js';
import type { AddressCheck } from '../../net/guarded-fetch.js';
import { ANSWER_BYTES, ANSWER_MS, type PostAnswer, type SendPost } from '../../net/posts.js';
import type { Clock } from '../../runtime/clock.js';
import { keptResults } from '../../runtime/kept-results.js';
import {
  type CheckedConnectionsOptions,
  checkedLookup,
  connectionPools,
  requireAnswer,
} from './checked-connections.js';
import { modulesOfNode } from './modules-of-node.js';

/** The connections of POSTs. */
interface CheckedPostsOptions extends CheckedConnectionsOptions {
  readonly clock: Clock;
}

/** The parts of a webhook request that are the same for every notification. */
interface Target {
  readonly send: (options: RequestOptions) => ClientRequest;
  readonly options: RequestOptions;
  /** The header `host`. */
  readonly host: string;
}

const KNOWN_TARGETS = 256;
const NO_BODY = new Set([204, 304]);

/**
 * Sends POSTs by connections of Node.js whose addresses are checked when they are opened. It reads status and
 * `Retry-After` only, so it costs less than a `fetch`. Undefined on hosts without such connections.
 */
export function checkedPosts(destinations: Destinations, options: CheckedPostsOptions): SendPost | undefined {
  const modules = modulesOfNode();
  if (modules === undefined) return undefined;
  const { http, https } = modules;
  const { plain, secure, lookup } = connectionPools(modules, options);
  const { clock } = options;
  const check: AddressCheck = (destination, address) => destinations.allows(destination, address);
  const targetOf = keptResults((address): Target => {
    const url = URL.parse(address);
    const fault = url === null ? 'it is no url' : destinations.fault(url);
    if (url === null || fault !== undefined) throw new RefusedAddressError(`A webhook is not called: ${fault}`);
    const { protocol, host, hostname, port, pathname, search } = url;
    const isSecure = protocol === 'https:';
    return {
      send: (isSecure ? https : http).request,
      options: {
        protocol,
        agent: isSecure ? secure : plain,
        method: 'POST',
        // Node.js takes addresses of IPv6 without brackets.
        host: hostname.replace(/^\[|\]$/g, ''),
        ...(port !== '' && { port }),
        path: pathname + search,
        lookup: checkedLookup({ url, check, lookup }),
      },
      host,
    };
  }, KNOWN_TARGETS);

  return ({ url, headers, body }) => {
    let request: ClientRequest | undefined;
    let give = () => {};
    const answer = new Promise<PostAnswer>((resolve, reject) => {
      const { send, options, host } = targetOf(url);
      // For a list of headers, Node.js adds neither host nor length.
      const list = ['host', host, 'content-length', String(Buffer.byteLength(body))];
      for (const name of Object.keys(headers)) list.push(name, headers[name] ?? '');
      const sent = send({ ...options, headers: list });
      request = sent;
      sent.on('error', reject);
      requireAnswer(sent, reject);
      sent.on('response', (message) => {
        const { statusCode: status = 0 } = message;
        const retryAfter = status < 300 ? undefined : message.headers['retry-after'];
        give = () => resolve({ status, retryAfter });
        drain(message, { clock, giveUp: () => sent.destroy(), done: give });
      });
      sent.end(body);
    });
    const abort = () => {
      give();
      request?.destroy(new Error('The request was aborted'));
    };
    return { answer, abort };
  };
}

/** Reads a short answer to its end, and cancels a long or slow one. */
function drain(
  message: IncomingMessage,
  { clock, giveUp, done }: { readonly clock: Clock; readonly giveUp: () => void; readonly done: () => void },
): void {
  message.on('error', done);
  if (NO_BODY.has(message.statusCode ?? 0)) {
    message.on('end', done);
    message.on('close', done);
    message.resume();
    return;
  }
  let read = 0;
  const stopTimer = clock.after(ANSWER_MS, giveUp);
  message.on('data', (chunk: Uint8Array) => {
    read += chunk.length;
    if (read > ANSWER_BYTES) giveUp();
  });
  message.on('end', done);
  message.on('close', () => {
    stopTimer();
    done();
  });
}
