import type { Context } from '@opentelemetry/api';
import type { WaitingCall } from 'parley-a2a/kit';

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

  /** Adds a call. The returned function removes it. */
  add({ traceparent, method, parent }: NewCall, within: Context): () => void {
    const call = { traceparent, method, since: Date.now(), ...(parent !== undefined && { parent }) };
    this.#calls.set(traceparent, { call, within });
    return () => void this.#calls.delete(traceparent);
  }

  get(traceparent: string): SpannedCall | undefined {
    return this.#calls.get(traceparent);
  }
}
