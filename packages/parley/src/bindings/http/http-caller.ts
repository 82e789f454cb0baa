import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { isRedirect } from '../../net/redirects.js';
import type { OperationName } from '../../operations/operations.js';
import { connectionFault } from './connection-fault.js';
import { joined } from './read-chunks.js';

/** The part of `fetch` that clients need. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The HTTP client and its limits. */
export interface HttpCaller {
  readonly request: Fetch;
  /** The longest answer, in bytes. */
  readonly answerBytes: number;
  /** The longest event of a stream, in characters. */
  readonly eventBytes: number;
}

/** The longest card, in bytes. */
export const CARD_BYTES = 1024 * 1024;

/** The longest answer to an operation, in bytes. */
export function answerLimit({ answerBytes }: Pick<HttpCaller, 'answerBytes'>, operation: OperationName): number {
  // Without the table of operations, which the bundles of small clients do not have.
  return operation.endsWith('AgentCard') ? Math.min(answerBytes, CARD_BYTES) : answerBytes;
}

/** A request of a client. */
export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `wanted`: an answer that redirects is returned like any other. Absent: it is an error. */
  readonly redirects?: 'wanted';
}

/** A character that no header value can have (RFC 9110 §5.5). */
const UNSENDABLE = /[^\t -~\x80-\xff]/;

/**
 * Sends a request and resolves once the head of the answer arrives, of any status. Redirects of calls are not followed:
 * the card names the address of an agent, and credentials go to no other.
 * @throws ConnectionError, the reason of the signal, or A2AError for an unwanted redirect.
 */
export async function sendRequest(caller: HttpCaller, request: HttpRequest): Promise<Response> {
  const { url, method, headers, body = null, signal = null } = request;
  try {
    const response = await caller.request(url, { method, headers, body, signal, redirect: 'manual' });
    const isPlain = response.status >= 200 && response.status < 300;
    if (isPlain || request.redirects === 'wanted') return response;
    if (!isRedirect(response)) return response;
    throw redirected(response, url);
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    signal?.throwIfAborted();
    // The messages of platforms show the refused value, which may be a credential.
    if (Object.values(headers).some((value) => UNSENDABLE.test(value)))
      throw new ConnectionError(`${placeOf(url)} is not called: a header cannot be sent`, {
        sent: false,
      });
    const { reason, sent } = await connectionFault(cause);
    throw new ConnectionError(`${placeOf(url)} cannot be reached: ${reason}`, { sent, cause });
  }
}

function redirected(response: Response, url: string): A2AError {
  discard(response);
  const target = response.headers.get('location');
  const where = target === null ? '' : ` to ${placeOf(new URL(target, url).href)}`;
  const message = `${placeOf(url)} redirects${where}; the agent's card has to name the right address`;
  return new A2AError('INVALID_AGENT_RESPONSE', message);
}

const UTF_8 = new TextDecoder();

/**
 * The whole body of an answer as text. Reading by chunks costs less than `text()`, and keeps the limit without a
 * header.
 * @throws ConnectionError if the answer breaks off, A2AError if it is too long, or the reason of the signal.
 */
export async function readAnswer(
  { body }: Response,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal | undefined },
): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return UTF_8.decode(joined(chunks, bytes));
      chunks.push(value);
      bytes += value.length;
      if (bytes > limit) break;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    const { reason } = await connectionFault(cause);
    throw new ConnectionError(`The answer broke off: ${reason}`, { sent: true, cause });
  }
  reader.cancel().catch(() => {});
  throw new A2AError('INVALID_AGENT_RESPONSE', `The answer is longer than ${limit} bytes`);
}

/** Cancels the body of an answer. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/** A url without query, credentials and fragment, for messages. */
function placeOf(url: string): string {
  try {
    const { origin, pathname } = new URL(url);
    return origin + pathname;
  } catch {
    return 'The address';
  }
}
