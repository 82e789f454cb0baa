import type { AddressInfo } from 'node:net';
import { checkOptions } from '../../options/check-options.js';
import { count, func, nonEmpty, type OptionSchemas, optionObject } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';

const { createServer } = process.getBuiltinModule('node:http');

/** Options of a loopback redirect. */
export interface LoopbackRedirectOptions {
  /** Opens a page in the person's browser, or shows its address. */
  readonly open: (url: string) => void | Promise<void>;
  /** Default: a free one, which authorization servers allow for programs on the person's machine (RFC 8252 §7.3). */
  readonly port?: number;
  /** Default: `/callback`. */
  readonly path?: string;
}

const schemas: OptionSchemas<LoopbackRedirectOptions> = {
  open: func,
  port: Type.Optional(count),
  path: Type.Optional(nonEmpty),
};

/** Options of `authorizationCode` for a person on the same machine. */
export interface LoopbackRedirect {
  readonly redirectUri: string;
  readonly authorize: (url: string, signal: AbortSignal) => Promise<string>;
  /** Ends the listening. */
  readonly close: () => Promise<void>;
}

const PAGE = '<!doctype html><title>Done</title><p>You can close this window now.';
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  connection: 'close',
  'referrer-policy': 'no-referrer',
};

/**
 * Listens on this machine for the browser's redirect from an authorization server (RFC 8252). Keeps the process alive
 * only while a person is asked. Accepts only browsers with the expected state.
 */
export async function loopbackRedirect(options: LoopbackRedirectOptions): Promise<LoopbackRedirect> {
  const checked = checkOptions({ subject: 'loopbackRedirect', schema: optionObject(schemas), options });
  const { open, port = 0, path = '/callback' } = checked;
  const waiting = new Map<string, (url: string) => void>();
  const server = createServer((request, response) => {
    const url = callbackUrl(request.url);
    const arrived = url?.pathname === path ? waiting.get(url.searchParams.get('state') ?? '') : undefined;
    response.writeHead(arrived === undefined ? 404 : 200, HEADERS).end(arrived === undefined ? '' : PAGE);
    if (url !== undefined) arrived?.(url.href);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  server.unref();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirectUri = `${origin}${path}`;
  // `//` is a path after the origin, but an invalid relative URL.
  const callbackUrl = (target = '') => (target.startsWith('/') ? new URL(`${origin}${target}`) : undefined);
  return {
    redirectUri,
    authorize: async (url, signal) => {
      const state = new URL(url).searchParams.get('state') ?? '';
      signal.throwIfAborted();
      server.ref();
      let leave: () => void = () => {};
      try {
        const back = new Promise<string>((resolve, reject) => {
          waiting.set(state, resolve);
          leave = () => reject(signal.reason);
          signal.addEventListener('abort', leave, { once: true });
        });
        await Promise.race([open(url), back]);
        return await back;
      } finally {
        signal.removeEventListener('abort', leave);
        waiting.delete(state);
        if (waiting.size === 0) server.unref();
      }
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
