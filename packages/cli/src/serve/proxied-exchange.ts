import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TrafficLog } from './traffic-log.js';

/** The options of `ProxiedExchange`. */
interface ProxiedExchangeOptions {
  readonly number: number;
  /** Base URL of the agent behind the proxy, without a final slash. */
  readonly target: string;
  /** Base URL of the proxy. */
  readonly own: string;
  /** Called with unredacted entries, and must redact credentials. */
  readonly log: TrafficLog;
  /** Called with the names of headers, parameters and cookies for API keys in the agent's card, in lower case. */
  readonly onSecretName: (name: string) => void;
}

const HOP_BY_HOP = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  // Not forwarded, because compressed bodies could not be logged.
  'accept-encoding',
  'content-encoding',
]);
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** The caller of the proxy. The signal aborts when the caller closes the connection. */
interface Caller {
  readonly path: string;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** Forwards one request, and streams its response back. */
export class ProxiedExchange {
  readonly #options: ProxiedExchangeOptions;

  constructor(options: ProxiedExchangeOptions) {
    this.#options = options;
  }

  async run(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { number: exchange, target, log } = this.#options;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { method = 'GET' } = request;
    const path = pathIn(request.url);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined && !HOP_BY_HOP.has(name)) headers.set(name, String(value));
    const body = await bodyOf(request);
    log({
      exchange,
      what: 'request',
      head: `${method} ${path}`,
      headers: Object.fromEntries(headers),
      body: body.toString(),
    });
    try {
      const answer = await fetch(`${target}${path}`, {
        method,
        headers,
        redirect: 'manual',
        signal: gone.signal,
        ...(body.length > 0 && method !== 'GET' && method !== 'HEAD' && { body: new Uint8Array(body) }),
      });
      await this.#pass(answer, { path, response, signal: gone.signal });
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      log({ exchange, what: 'error', head: gone.signal.aborted ? 'the caller has gone' : String(cause) });
      if (response.headersSent) response.destroy();
      else answerJson(response, 502, { error: { code: 502, message: 'The agent behind the proxy cannot be reached' } });
    }
  }

  async #pass(answer: Response, { path, response, signal }: Caller): Promise<void> {
    const { number: exchange, log } = this.#options;
    const type = answer.headers.get('content-type') ?? '';
    const head = `${answer.status} ${type}`.trim();
    // The proxy requires no credentials, so pages of other origins must not read its responses.
    const headers = Object.fromEntries(
      Array.from(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name) && !name.startsWith('access-control-')),
    );
    const shown = Object.fromEntries(answer.headers);
    if (/\/agent(?:-card)?\.json$/.test(path.replace(/\?.*/s, '')) && answer.ok) {
      const text = this.#rewritten(await answer.text());
      log({ exchange, what: 'response', head, headers: shown, body: text });
      delete headers.etag;
      response.writeHead(answer.status, headers).end(text);
      return;
    }
    response.writeHead(answer.status, headers);
    if (!type.startsWith('text/event-stream')) {
      const bytes = Buffer.from(await answer.arrayBuffer());
      log({ exchange, what: 'response', head, headers: shown, body: bytes.toString() });
      response.end(bytes);
      return;
    }
    log({ exchange, what: 'response', head, headers: shown });
    response.flushHeaders();
    const decoder = new TextDecoder();
    const tell = (body: string) => log({ exchange, what: 'event', head: 'stream', body });
    let pending: string[] = [];
    for await (const chunk of answer.body ?? []) {
      // Logs whole lines, because a secret may be split over two chunks.
      // An entry has all lines of a chunk, because an entry per line would slow the proxy down.
      const text = decoder.decode(chunk, { stream: true });
      const end = text.lastIndexOf('\n') + 1;
      if (end > 0) {
        tell([...pending, text.slice(0, end)].join(''));
        pending = [];
      }
      if (end < text.length) pending.push(text.slice(end));
      if (!response.write(chunk)) await once(response, 'drain', { signal });
    }
    if (pending.length > 0) tell(pending.join(''));
    log({ exchange, what: 'end', head: 'stream ended' });
    response.end();
  }

  /**
   * Returns a card whose addresses are those of the proxy, except for WebSockets. Signatures are removed, because they
   * no longer match.
   */
  #rewritten(text: string): string {
    const { target, own, onSecretName } = this.#options;
    try {
      const { signatures: _, ...card } = JSON.parse(text) as Record<string, unknown>;
      for (const name of keyNamesIn(card)) onSecretName(name);
      return JSON.stringify(card, function (this: Readonly<Record<string, unknown>>, name, value: unknown) {
        const isOurs =
          name === 'url' && typeof value === 'string' && (value === target || value.startsWith(`${target}/`));
        return isOurs && !takesWebSockets(this) ? `${own}${value.slice(target.length)}` : value;
      });
    } catch {
      return text;
    }
  }
}

/** The bindings that use WebSockets, which the proxy does not forward. */
const SESSIONS: readonly unknown[] = ['https://parley-a2a.dev/bindings/capnweb/v1', 'CAPNWEB'];

/** True for an interface of such a binding, in a card of any version. */
function takesWebSockets({ protocolBinding, transport }: Readonly<Record<string, unknown>>): boolean {
  return SESSIONS.includes(protocolBinding ?? transport);
}

/** Returns the path and query of a request target. Other forms of a target would address another host. */
function pathIn(target = '/'): string {
  if (target.startsWith('/')) return target;
  const named = URL.parse(target);
  return named === null || !/^https?:$/.test(named.protocol) ? '/' : `${named.pathname}${named.search}`;
}

/** Returns the names for API keys in a card of 1.0 or 0.3. */
function keyNamesIn({ securitySchemes }: Record<string, unknown>): readonly string[] {
  return Object.values(securitySchemes ?? {}).flatMap((scheme: { apiKeySecurityScheme?: unknown; name?: unknown }) => {
    const { name } = (scheme?.apiKeySecurityScheme ?? scheme ?? {}) as { readonly name?: unknown };
    return typeof name === 'string' && name !== '' ? [name.toLowerCase()] : [];
  });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) throw new Error('the request is too large for the proxy');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
