import type { CancelRequest } from './task-storage.js';

/** Two requests to cancel as one: the metadata of the later is merged over that of the earlier. */
export function mergedCancel(earlier: CancelRequest | undefined, later: CancelRequest): CancelRequest {
  if (earlier?.metadata === undefined) return later;
  if (later.metadata === undefined) return earlier;
  return { metadata: { ...earlier.metadata, ...later.metadata } };
}

/** A stored request to cancel. A request that cannot be read cancels all the same, without its metadata. */
export function parsedCancel(text: string): CancelRequest {
  try {
    return JSON.parse(text) as CancelRequest;
  } catch {
    return {};
  }
}
