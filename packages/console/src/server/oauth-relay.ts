/** Sends requests, with the check of addresses that the host needs. */
type RelayFetch = (url: string, init: RequestInit) => Promise<Response>;

/** The cards whose authorization servers a page may call. */
export interface OAuthRelayOptions {
  readonly cards: () => readonly { readonly securitySchemes?: object | undefined }[];
  readonly fetch: RelayFetch;
}

/** The answer of an authorization server. */
export interface RelayedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request of the page. A body makes it a POST. */
interface RelayedRequest {
  readonly url: string;
  readonly body?: string;
}

const POSTED = ['tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl'];
const DISCOVERED = ['token_endpoint', 'device_authorization_endpoint'];
const ANSWER_BYTES = 1024 * 1024;
const ANSWER_MS = 30_000;

/**
 * Sends a page's requests for tokens, because its content security policy forbids other origins and most authorization
 * servers allow no pages. It fetches only discovery documents at the origins of a card. It requests tokens only at
 * endpoints that a card or such a document names.
 */
export function oauthRelay({ cards, fetch }: OAuthRelayOptions): (request: string) => Promise<RelayedAnswer> {
  const discovered = new Set<string>();
  return async (text) => {
    const asked = requestIn(text);
    if (asked === undefined) return refusal(400, 'This is no request for a token');
    const { url, body } = asked;
    const named = cards().flatMap(({ securitySchemes }) => urlsIn(securitySchemes ?? {}));
    const isDocument =
      body === undefined && isWellKnown(url) && named.some((one) => originOf(one.url) === originOf(url));
    const isEndpoint = named.some((one) => one.url === url && POSTED.includes(one.name)) || discovered.has(url);
    if (!isDocument && !(body !== undefined && isEndpoint)) return refusal(403, 'No card names this address');
    try {
      const answer = await fetch(url, requestOf(body));
      const answered = await boundedText(answer);
      if (isDocument && answer.ok) endpointsIn(answered).forEach((endpoint) => void discovered.add(endpoint));
      return { status: answer.status, headers: headersOf(answer), body: answered };
    } catch {
      return refusal(502, `The authorization server at ${originOf(url)} cannot be reached`);
    }
  };
}

function requestIn(text: string): RelayedRequest | undefined {
  const { url, body } = objectIn(text);
  if (typeof url !== 'string' || !/^https?:/.test(url) || !URL.canParse(url)) return undefined;
  if (body !== undefined && typeof body !== 'string') return undefined;
  return { url, ...(body !== undefined && { body }) };
}

function requestOf(body: string | undefined): RequestInit {
  const headers = { accept: 'application/json' };
  const common = { redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) } as const;
  if (body === undefined) return { ...common, headers };
  return {
    ...common,
    method: 'POST',
    body,
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
  };
}

interface NamedUrl {
  readonly name: string;
  readonly url: string;
}

/** All urls of schemes, at any depth. */
function urlsIn(value: object): NamedUrl[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member === 'object' && member !== null) return urlsIn(member);
    return typeof member === 'string' && name.toLowerCase().endsWith('url') ? [{ name, url: member }] : [];
  });
}

function isWellKnown(url: string): boolean {
  return new URL(url).pathname.includes('/.well-known/');
}

function endpointsIn(document: string): string[] {
  const named = objectIn(document);
  return DISCOVERED.flatMap((name) => {
    const url = named[name];
    return typeof url === 'string' ? [url] : [];
  });
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

async function boundedText(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES) throw new Error('The answer is too long');
    texts.push(decoder.decode(chunk, { stream: true }));
  }
  return texts.join('');
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

function headersOf(answer: Response): Readonly<Record<string, string>> {
  // The text is only for scripts of the console, whatever type the authorization server sends.
  const type = answer.headers.get('content-type') ?? 'text/plain';
  return { 'content-type': type, 'content-disposition': 'attachment', ...UNKEPT };
}

const UNKEPT = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

function refusal(status: number, message: string): RelayedAnswer {
  const body = JSON.stringify({ error: { code: status, message } });
  return { status, headers: { 'content-type': 'application/json', ...UNKEPT }, body };
}
