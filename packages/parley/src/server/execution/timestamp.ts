let lastTime = Number.NaN;
let lastText = '';

/**
 * A time in ms since the epoch in the form of the protocol. Cached, because busy servers need the same one many times.
 */
export function timestampAt(ms: number): string {
  if (ms !== lastTime) {
    lastText = new Date(ms).toISOString();
    lastTime = ms;
  }
  return lastText;
}
