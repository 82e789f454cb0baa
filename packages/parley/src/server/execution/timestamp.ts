let lastTime = Number.NaN;
let lastText = '';

/**
 * A time in ms since the epoch, in the format of the protocol. The last text is kept, because busy servers ask for the
 * same time often.
 */
export function timestampAt(ms: number): string {
  if (ms !== lastTime) {
    lastText = new Date(ms).toISOString();
    lastTime = ms;
  }
  return lastText;
}
