import type { Exchange, ExchangeRequest, ExchangeResponse } from '../bindings/http/exchange.js';
import { fingerprint } from '../runtime/sha256.js';
import { READ_METHODS, taking } from './middleware/method-filter.js';

/** The card, and how long it may be kept. */
interface AgentCardEndpointOptions {
  /** The card as JSON. A function if the card is signed. */
  readonly json: string | (() => Promise<string>);
  /** The time of the last change of the card, in ms since the epoch. */
  readonly modifiedAt: number;
  /** The time for which clients may cache the card. */
  readonly maxAgeSeconds: number;
  /** The request header that the card depends on, if there is one. */
  readonly vary?: string;
}

/** Serves a public card with the headers for caches (Spec §8.6). */
export function agentCardEndpoint({ json, modifiedAt, maxAgeSeconds, vary }: AgentCardEndpointOptions): Exchange {
  const modified = Math.floor(modifiedAt / 1000) * 1000;
  let whole: Promise<ExchangeResponse> | undefined;
  const makeWhole = async (): Promise<ExchangeResponse> => {
    const text = typeof json === 'string' ? json : await json();
    return {
      status: 200,
      headers: {
        'content-type': 'application/json',
        'cache-control': `public, max-age=${maxAgeSeconds}`,
        // Weak, so that it holds for a compressed form as well.
        etag: `W/"${await fingerprint(text, 16)}"`,
        'last-modified': new Date(modified).toUTCString(),
        ...(vary !== undefined && { vary }),
      },
      body: text,
      verbatim: true,
    };
  };
  return taking({ methods: READ_METHODS, message: 'The agent card can only be read' }, async (request) => {
    whole ??= makeWhole();
    const answer = await whole;
    if (!isCurrent(request, answer.headers.etag ?? '', modified)) return answer;
    const { 'content-type': _, ...headers } = answer.headers;
    return { status: 304, headers, verbatim: true };
  });
}

/** The date counts only if the request has no tag (RFC 9110 §13.2.2). */
function isCurrent(request: ExchangeRequest, tag: string, modified: number): boolean {
  const tags = request.header('if-none-match');
  if (tags !== undefined) {
    return tags.trim() === '*' || tags.split(',').some((candidate) => opaque(candidate.trim()) === opaque(tag));
  }
  const since = request.header('if-modified-since');
  return since !== undefined && Date.parse(since) >= modified;
}

/** If-None-Match compares weakly (RFC 9110 §13.1.2). */
function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
