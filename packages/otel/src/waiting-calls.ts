import type { Span } from '@opentelemetry/api';
import type { WaitingCall } from 'parley-a2a/kit';

/** Dropped calls whose turn has not begun. The oldest of more is forgotten. */
const MOST_DROPPED = 4_096;

/** A call that waits for its turn, and its span. */
interface SpannedCall {
  readonly span: Span;
  readonly call: WaitingCall;
}

/** The calls whose callers wait for their turns, by their `traceparent`. */
export class WaitingCalls {
  readonly #calls = new Map<string, SpannedCall>();
  readonly #dropped = new Set<string>();

  /** Adds a call. The returned function removes it. */
  add(span: Span, { parent, ...call }: Omit<WaitingCall, 'since' | 'parent'> & { parent: string | undefined }) {
    const { traceparent } = call;
    const waiting = { ...call, since: Date.now(), ...(parent !== undefined && { parent }) };
    this.#calls.set(traceparent, { span, call: waiting });
    return () => void this.#calls.delete(traceparent);
  }

  get(traceparent: string): SpannedCall | undefined {
    return this.#calls.get(traceparent);
  }

  /** Adds a call whose span a sampler has dropped. Its turn removes it, which costs less than to watch its end. */
  drop(traceparent: string): void {
    this.#dropped.add(traceparent);
    if (this.#dropped.size <= MOST_DROPPED) return;
    for (const oldest of this.#dropped) {
      this.#dropped.delete(oldest);
      return;
    }
  }

  /** Removes a dropped call. False if it is none. */
  takeDropped(traceparent: string): boolean {
    return this.#dropped.delete(traceparent);
  }
}
