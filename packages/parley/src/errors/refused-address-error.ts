/** A request that is not sent, because its destination is not allowed. Local: the reason names no resolved address. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  /** For code that sees this error as the cause of another. */
  readonly code = 'REFUSED_ADDRESS';
}
