/** Idempotency keys that a storage keeps at most; over it the oldest are forgotten first. */
export const REMEMBERED_LIMIT = 100_000;
