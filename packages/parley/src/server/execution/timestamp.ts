let lastTime = Number.NaN;
let lastText = '';

/** A time in ms since the epoch as the protocol writes it. Busy servers ask for the same one many times: it is written once. */
export function timestampAt(ms: number): string {
  if (ms !== lastTime) {
    lastText = new Date(ms).toISOString();
    lastTime = ms;
  }
  return lastText;
}
