import type { Clock } from '../runtime/clock.js';
import type { DocumentFetch } from './bounded-fetch.js';

/** A POST. Its headers are in lower case, and none of them is of the connection or of the length. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The part of an answer that senders of notifications read. */
export interface PostAnswer {
  readonly status: number;
  /** Read if the status is no success. */
  readonly retryAfter?: string | undefined;
}

/** A POST under way. */
interface PostCall {
  /** Rejects if no answer comes, and with the `code` REFUSED_ADDRESS if the address is not allowed. */
  readonly answer: Promise<PostAnswer>;
  /** Aborts the call. After the status it only stops reading the body, and the answer stays valid. */
  abort(): void;
}

/** Sends a POST and follows no redirect. */
export type SendPost = (post: Post) => PostCall;

/** Maximum number of body bytes that are read, so that the connection can be reused. They are dropped. */
export const ANSWER_BYTES = 65_536;
/** Longest time in ms from the status of an answer to its end. */
export const ANSWER_MS = 1_000;

/** Sends POSTs by a `fetch`. */
export function fetchedPosts(request: DocumentFetch, clock: Clock): SendPost {
  return ({ url, headers, body }) => {
    const call = new AbortController();
    const init = { method: 'POST', headers, body, redirect: 'manual', signal: call.signal } as const;
    const { promise: answer, resolve, reject } = Promise.withResolvers<PostAnswer>();
    let give = () => {};
    const sendPost = async () => {
      const response = await request(url, init);
      const retryAfter = response.headers.get('retry-after') ?? undefined;
      give = () => resolve({ status: response.status, retryAfter });
      await drain(response, clock);
      give();
    };
    sendPost().catch(reject);
    const abort = () => {
      give();
      call.abort();
    };
    return { answer, abort };
  };
}

/** Reads a short answer to its end, and cancels a long or slow one. Never fails, because the status has been read. */
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
