/** A request that is not sent, because its destination is not allowed. Local: the reason names no resolved address. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  /** For code that sees this error as the cause of another. */
  readonly code = 'REFUSED_ADDRESS';
}

const MOST_CAUSES = 4;

/** The refusal of an address behind an error of the client; undefined if there is none. */
export function refusedAddressIn(error: unknown): RefusedAddressError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < MOST_CAUSES; cause = cause.cause, depth += 1) {
    if (cause instanceof RefusedAddressError) return cause;
  }
  return undefined;
}
