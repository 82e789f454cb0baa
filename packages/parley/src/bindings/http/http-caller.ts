import { A2AError } from '../../errors/a2a-error.js';
import { ConnectionError } from '../../errors/connection-error.js';
import { connectionFault } from './connection-fault.js';

/** The web's `fetch`, as far as clients need it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How clients speak HTTP. */
export interface HttpCaller {
  readonly request: Fetch;
  /** The longest answer that is read, in bytes. */
  readonly answerBytes: number;
  /** The longest event of a stream, in characters. */
  readonly eventBytes: number;
}

/** A request of a client. */
export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request and resolves once the head of the answer is there, whatever it says.
 * @throws ConnectionError, or the reason of the signal.
 */
export async function openRequest(caller: HttpCaller, request: HttpRequest): Promise<Response> {
  const { url, method, headers, body = null, signal = null } = request;
  try {
    return await caller.request(url, { method, headers: { ...headers }, body, signal, redirect: 'manual' });
  } catch (cause) {
    signal?.throwIfAborted();
    const { reason, sent } = connectionFault(cause);
    throw new ConnectionError(`${placeOf(url)} cannot be reached: ${reason}`, { sent, cause });
  }
}

/**
 * The same for calls. Redirects are not followed: an agent's address is what its card says, and credentials go nowhere else.
 * @throws A2AError for a redirect.
 */
export async function sendRequest(caller: HttpCaller, request: HttpRequest): Promise<Response> {
  const response = await openRequest(caller, request);
  if (response.type !== 'opaqueredirect' && (response.status < 300 || response.status > 399)) return response;
  discard(response);
  const target = response.headers.get('location');
  const where = target === null ? '' : ` to ${placeOf(new URL(target, request.url).href)}`;
  const message = `${placeOf(request.url)} redirects${where}; the agent's card has to name the right address`;
  throw new A2AError('INVALID_AGENT_RESPONSE', message);
}

/**
 * The whole body of an answer as text.
 * @throws ConnectionError where it breaks off, A2AError where it is too long, or the reason of the signal.
 */
export async function readAnswer(
  response: Response,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal | undefined },
): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  const isPlain = response.headers.get('content-encoding') === null;
  try {
    // A length that is known and within the limit spares counting.
    if (response.body === null || (isPlain && length <= limit)) return await response.text();
    return await readBounded(response.body, limit);
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    signal?.throwIfAborted();
    throw new ConnectionError(`The answer broke off: ${connectionFault(cause).reason}`, { sent: true, cause });
  }
}

async function readBounded(body: ReadableStream<Uint8Array>, limit: number): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > limit) {
      reader.cancel().catch(() => {});
      throw new A2AError('INVALID_AGENT_RESPONSE', `The answer is longer than ${limit} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Lets go of an answer that nobody reads. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/** A url as it may be told: without query, credentials and fragment. */
function placeOf(url: string): string {
  try {
    const { origin, pathname } = new URL(url);
    return origin + pathname;
  } catch {
    return 'The address';
  }
}
