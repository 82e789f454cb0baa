let lastTime = Number.NaN;
let lastText = '';

/**
 * Formats ms since the epoch as a protocol timestamp. Caches the last text, because busy servers often format the same
 * time.
 */
export function timestampAt(ms: number): string {
  if (ms !== lastTime) {
    lastText = new Date(ms).toISOString();
    lastTime = ms;
  }
  return lastText;
}
