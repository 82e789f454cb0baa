import type { Context } from '@opentelemetry/api';
import type { WaitingCall } from 'parley-a2a/kit';

/** Maximum number of unsampled calls whose turn has not started. The oldest are dropped above it. */
const MOST_DROPPED = 4_096;

/** A call that waits for its turn. */
interface SpannedCall {
  readonly call: WaitingCall;
  /** Contains the span of the call, and its baggage. */
  readonly within: Context;
}

type NewCall = Pick<WaitingCall, 'traceparent' | 'method'> & { readonly parent: string | undefined };

/** The calls whose callers wait for their turns, by their `traceparent`. */
export class WaitingCalls {
  readonly #calls = new Map<string, SpannedCall>();
  readonly #dropped = new Set<string>();

  /** Adds a call. The returned function removes it. */
  add({ traceparent, method, parent }: NewCall, within: Context): () => void {
    const call = { traceparent, method, since: Date.now(), ...(parent !== undefined && { parent }) };
    this.#calls.set(traceparent, { call, within });
    return () => void this.#calls.delete(traceparent);
  }

  get(traceparent: string): SpannedCall | undefined {
    return this.#calls.get(traceparent);
  }

  /** Adds a call that was not sampled. Its turn removes it, which costs less than observing its end. */
  drop(traceparent: string): void {
    this.#dropped.add(traceparent);
    if (this.#dropped.size <= MOST_DROPPED) return;
    for (const oldest of this.#dropped) {
      this.#dropped.delete(oldest);
      return;
    }
  }

  /** Removes an unsampled call. Returns false if there is none. */
  takeDropped(traceparent: string): boolean {
    return this.#dropped.delete(traceparent);
  }
}
