import type { ServerCallContext } from 'parley-a2a/server';

const SIGNAL: PropertyDescriptor & ThisType<CopiedContext> = {
  get() {
    return this.original.signal;
  },
  enumerable: true,
  configurable: true,
};

/** A copy of a context. Its signal is made when something reads it, which costs more than a span. */
class CopiedContext {
  readonly original!: ServerCallContext;

  constructor(original: ServerCallContext) {
    Object.defineProperty(this, 'original', { value: original });
    for (const name in original) {
      if (name !== 'signal') Object.assign(this, { [name]: original[name as keyof ServerCallContext] });
    }
    Object.defineProperty(this, 'signal', SIGNAL);
  }
}

/** The context of a call, with the trace that the call belongs to. */
export function withTraceparent(original: ServerCallContext, traceparent: string): ServerCallContext {
  const copy: object = new CopiedContext(original);
  return Object.assign(copy as ServerCallContext, { traceparent });
}
