import type { Post, SendPost } from '../net/posts.js';
import type { EqualTimers } from '../runtime/equal-timers.js';
import type { AttemptResult } from './delivery-policy.js';
import type { QueueHold } from './queue-hold.js';

/** Ports of a call. */
interface WebhookCallOptions {
  readonly send: SendPost;
  /** Timers of the longest time of a call. */
  readonly timeouts: EqualTimers;
  /** Aborts the call when it is lost. It has one call at a time. */
  readonly hold: Pick<QueueHold, 'isLost' | 'abort'>;
}

/** Sends one POST. Never rejects. */
export async function callWebhook(post: Post, { send, timeouts, hold }: WebhookCallOptions): Promise<AttemptResult> {
  const call = send(post);
  let isLate = false;
  // A sender that ignores the abort must not keep the place of its host.
  const stopped = Promise.withResolvers<never>();
  const abort = () => {
    call.abort();
    stopped.reject(new Error('The call was given up'));
  };
  const timer = timeouts.start(() => {
    isLate = true;
    abort();
  });
  hold.abort = abort;
  try {
    if (hold.isLost) abort();
    const { status, retryAfter } = await Promise.race([call.answer, stopped.promise]);
    return { kind: 'answer', status, retryAfter };
  } catch (error) {
    if (isLate) return { kind: 'failure', reason: 'timeout' };
    return { kind: 'failure', reason: isForbidden(error) ? 'forbidden' : 'connection' };
  } finally {
    timeouts.stop(timer);
    hold.abort = undefined;
  }
}

function isForbidden(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && at.code === 'REFUSED_ADDRESS') return true;
  }
  return false;
}
