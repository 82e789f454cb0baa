import type { Post, SendPost } from '../net/posts.js';
import type { Clock } from '../runtime/clock.js';
import type { AttemptResult } from './delivery-policy.js';

/** Ports of a call. */
interface WebhookCallOptions {
  readonly send: SendPost;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Aborts the call. */
  readonly signal: AbortSignal;
}

/** Sends one POST. Never rejects. */
export async function callWebhook(post: Post, options: WebhookCallOptions): Promise<AttemptResult> {
  const { send, clock, timeoutMs, signal } = options;
  const call = send(post);
  let isLate = false;
  // A sender that ignores the abort must not keep the place of its host.
  const stopped = Promise.withResolvers<never>();
  const abort = () => {
    call.abort();
    stopped.reject(new Error('The call was given up'));
  };
  const stopTimer = clock.after(timeoutMs, () => {
    isLate = true;
    abort();
  });
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (signal.aborted) abort();
    const { status, retryAfter } = await Promise.race([call.answer, stopped.promise]);
    return { kind: 'answer', status, retryAfter };
  } catch (error) {
    if (isLate) return { kind: 'failure', reason: 'timeout' };
    return { kind: 'failure', reason: isForbidden(error) ? 'forbidden' : 'connection' };
  } finally {
    stopTimer();
    signal.removeEventListener('abort', abort);
  }
}

function isForbidden(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && at.code === 'REFUSED_ADDRESS') return true;
  }
  return false;
}
