import { enterTrace, type TraceContext } from 'parley-a2a/kit';
import type { ServerCallContext } from 'parley-a2a/server';

const SIGNAL: PropertyDescriptor & ThisType<CopiedContext> = {
  get() {
    return this.original.signal;
  },
  enumerable: true,
  configurable: true,
};

/** A copy of a call context. Its signal is read on demand, because making it costs more than a span. */
class CopiedContext {
  readonly original!: ServerCallContext;

  constructor(original: ServerCallContext) {
    Object.defineProperty(this, 'original', { value: original });
    for (const name in original) {
      if (!OWN_MEMBERS.has(name)) Object.assign(this, { [name]: original[name as keyof ServerCallContext] });
    }
    Object.defineProperty(this, 'signal', SIGNAL);
  }
}

/** Members that are not copied, such as baggage entries that are not allowed. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['signal', 'traceparent', 'tracestate', 'baggage']);

/**
 * Returns the context of a call with the trace to propagate. Calls over HTTP are changed in place, others are copied.
 */
export function contextWith(original: ServerCallContext, trail: TraceContext, traceId?: string): ServerCallContext {
  if (enterTrace(original, trail, traceId)) return original;
  const copy: object = new CopiedContext(original);
  return Object.assign(copy as ServerCallContext, trail);
}
