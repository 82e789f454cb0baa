/** Idempotency keys that a storage keeps at most; over it the oldest are forgotten first. */
export const REMEMBERED_LIMIT = 100_000;
/** Bytes that they take at most, with the direct replies that are kept for them. */
export const REMEMBERED_BYTES = 67_108_864;
