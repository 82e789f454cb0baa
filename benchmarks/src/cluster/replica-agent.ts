/** Short leases, so that a takeover is measured in seconds. A takeover takes at most two leases. */
export const LIMITS = { leaseMs: 3_000, leaseRenewalMs: 750, fenceMarginMs: 500 };

/** The text of one streamed event: 200 bytes, as some tokens of a model. */
export const CHUNK = 'x'.repeat(200);

/** A text that tells when it was written, in ms since the epoch. */
export function stamped(): string {
  return `at ${performance.timeOrigin + performance.now()} `;
}

/** The times in a text of stamped events. */
export function stampsIn(text: string): readonly number[] {
  return Array.from(text.matchAll(/at (\d+(?:\.\d+)?) /g), ([, time]) => Number(time));
}
