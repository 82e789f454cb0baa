import type { CancelRequest } from './storage.js';

/** Two requests to cancel as one: the metadata of the later is merged over that of the earlier. */
export function mergedCancel(earlier: CancelRequest | undefined, later: CancelRequest): CancelRequest {
  if (earlier?.metadata === undefined) return later;
  if (later.metadata === undefined) return earlier;
  return { metadata: { ...earlier.metadata, ...later.metadata } };
}
