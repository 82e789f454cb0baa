import { createHash, timingSafeEqual } from 'node:crypto';
import { isLocalHost } from 'parley-a2a/node';
import type { WebHandler } from '../serve/web-exchange.js';

/** The header with the token of the launch. */
const TOKEN_HEADER = 'parley-console-token';

/** Paths of the page itself. */
const PAGES = ['/', '/console'];

/** The webhook of a push inbox. */
const INBOX = /^\/console\/inbox-([\w-]+)$/;

/** The options of `consoleGate`. */
interface ConsoleGateOptions {
  /** The token of the launch. Only the page opened by the tool has it. */
  readonly token: string;
  /** JSON documents by path. Requests for them need the token. */
  readonly documents: Readonly<Record<string, (request: Request) => Promise<Response> | Response>>;
  /** Receives the push notifications of agents for the inbox of a name. They carry no token. */
  readonly takeNotification: (name: string, request: Request) => Promise<Response>;
  /** Serves the page, its files and the calls of the agent. */
  readonly serve: WebHandler;
}

/**
 * Allows only the page of this launch to read and call. The page and its files contain nothing of the agent, so they
 * need no token: a browser sends none when it opens them.
 */
export function consoleGate({ token, documents, takeNotification, serve }: ConsoleGateOptions): WebHandler {
  const expected = digest(token);
  const isKnown = (request: Request): boolean => {
    const given = request.headers.get(TOKEN_HEADER);
    return given !== null && timingSafeEqual(digest(given), expected);
  };
  return async (request) => {
    const host = request.headers.get('host') ?? '';
    // A page of another site may resolve its own name to this machine (DNS rebinding).
    if (!isLocalHost(host)) return refusal(421, 'The console takes only requests for hosts of this machine.');
    const origin = request.headers.get('origin');
    if (origin !== null && origin !== `http://${host}`) return refusal(403, 'Another page has sent this request.');
    const { pathname, search } = new URL(request.url);
    const [, inbox] = INBOX.exec(pathname) ?? [];
    if (inbox !== undefined) return takeNotification(inbox, request);
    const document = documents[pathname];
    if (!isKnown(request) && (document !== undefined || !isPage(request, pathname))) {
      return refusal(401, 'Open the console by the url that parley console has printed. It has the token.');
    }
    if (document !== undefined) return document(request);
    return serve(new Request(`http://${host}${pathname}${search}`, request));
  };
}

function isPage({ method, headers }: Request, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return PAGES.includes(path) ? headers.get('sec-fetch-dest') === 'document' : path.startsWith('/console/');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function refusal(code: number, message: string): Response {
  return Response.json({ error: { code, message } }, { status: code, headers: { 'cache-control': 'no-store' } });
}
