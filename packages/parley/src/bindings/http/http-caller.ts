import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { isRedirect } from '../../net/redirects.js';
import type { OperationName } from '../../operations/operations.js';
import type { TurnBudget } from '../../runtime/turn-budget.js';
import { connectionFault } from './connection-fault.js';
import { CollectedBytes } from './read-chunks.js';
import { refuseItems } from './received-answer.js';

/** The part of `fetch` that clients need. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The HTTP client and its limits. */
export interface HttpCaller {
  readonly request: Fetch;
  /** The longest answer, in bytes. */
  readonly answerBytes: number;
  /** The longest event of a stream, in characters. */
  readonly eventBytes: number;
  /** The most members and elements of the JSON of an answer or an event. */
  readonly answerItems: number;
  /** The time for streams in a turn of the event loop. */
  readonly turn: TurnBudget;
}

/** The longest card, in bytes. */
export const CARD_BYTES = 1024 * 1024;

/** The bounds of the answer to an operation. */
export function answerBounds(
  { answerBytes, answerItems: items }: Pick<HttpCaller, 'answerBytes' | 'answerItems'>,
  operation: OperationName,
): Omit<AnswerBounds, 'signal'> {
  // Not from the table of operations, which the bundles of small clients do not contain.
  return { limit: operation.endsWith('AgentCard') ? Math.min(answerBytes, CARD_BYTES) : answerBytes, items };
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
    throw redirectError(response, url);
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    signal?.throwIfAborted();
    // Error messages of platforms quote the refused value, which may be a credential.
    if (Object.values(headers).some((value) => UNSENDABLE.test(value)))
      throw new ConnectionError(`${placeOf(url)} is not called: a header cannot be sent`, {
        sent: false,
      });
    const { reason, sent } = await connectionFault(cause);
    throw new ConnectionError(`${placeOf(url)} cannot be reached: ${reason}`, { sent, cause });
  }
}

function redirectError(response: Response, url: string): A2AError {
  discard(response);
  const target = response.headers.get('location');
  const where = target === null ? '' : ` to ${placeOf(new URL(target, url).href)}`;
  const message = `${placeOf(url)} redirects${where}; the agent's card has to name the right address`;
  return new A2AError('INVALID_AGENT_RESPONSE', message);
}

const UTF_8 = new TextDecoder();

/** The bounds of an answer. */
interface AnswerBounds {
  /** In bytes. */
  readonly limit: number;
  readonly items: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The whole body of an answer as text. Reading by chunks costs less than `text()`, and keeps the limit without a
 * header.
 * @throws ConnectionError if the answer breaks off, A2AError if it is too long, or the reason of the signal.
 */
export async function readAnswer({ body }: Response, { limit, items, signal }: AnswerBounds): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const read = new CollectedBytes();
  let isWhole = false;
  try {
    while (!isWhole && read.size <= limit) {
      const { done, value } = await reader.read();
      isWhole = done;
      if (value !== undefined) read.push(value);
    }
  } catch (cause) {
    signal?.throwIfAborted();
    const { reason } = await connectionFault(cause);
    throw new ConnectionError(`The answer broke off: ${reason}`, { sent: true, cause });
  }
  if (isWhole) {
    const text = UTF_8.decode(read.whole());
    refuseItems(text, items);
    return text;
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
