import type { DocumentFetch } from '../net/bounded-fetch.js';
import type { Clock } from '../runtime/clock.js';
import type { AttemptResult } from './delivery-policy.js';

/** One POST to a webhook. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts the call. */
  readonly signal: AbortSignal;
}

/** Ports of a call. */
export interface WebhookCallOptions {
  /** Follows no redirect of a POST, and rejects with a `code` of REFUSED_ADDRESS where the address is not allowed. */
  readonly fetch: DocumentFetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Bytes of an answer that are read, so that its connection can be used again. Nothing of them is kept. */
const ANSWER_BYTES = 65_536;
const ANSWER_MS = 1_000;

/** Sends one POST. Never rejects. */
export async function callWebhook(request: WebhookRequest, options: WebhookCallOptions): Promise<AttemptResult> {
  const { clock, timeoutMs } = options;
  const { url, headers, body, signal } = request;
  const call = new AbortController();
  let isLate = false;
  const abort = () => call.abort();
  const stopTimer = clock.after(timeoutMs, () => {
    isLate = true;
    abort();
  });
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (signal.aborted) abort();
    const init = { method: 'POST', headers, body, redirect: 'manual', signal: call.signal } as const;
    const response = await options.fetch(url, init);
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    await drain(response, clock);
    return { kind: 'answer', status: response.status, retryAfter };
  } catch (error) {
    if (isLate) return { kind: 'failure', reason: 'timeout' };
    return { kind: 'failure', reason: isForbidden(error) ? 'forbidden' : 'connection' };
  } finally {
    stopTimer();
    signal.removeEventListener('abort', abort);
  }
}

/** Reads a short answer to its end, and gives up a long or slow one. The status has been read: nothing fails here. */
async function drain({ body }: Response, clock: Clock): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  const stopTimer = clock.after(ANSWER_MS, cancel);
  try {
    for (let read = 0; read <= ANSWER_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      read += value.length;
    }
    cancel();
  } catch {
    // The receiver cut the answer short, after its status.
  } finally {
    stopTimer();
  }
}

function isForbidden(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && at.code === 'REFUSED_ADDRESS') return true;
  }
  return false;
}
