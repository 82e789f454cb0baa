// The journal of a replica: one JSON line per note, written at once, so that a kill loses none. All times are ms of the
// machine's monotonic clock, which all its processes share and no shift of the wall clock changes.
import { openSync, writeSync } from 'node:fs';

const BEAT_MS = 100;
/** Delay of a timer in ms that counts as a stall of the process. */
const STALL_MS = 250;

export const monotonic = () => Number(process.hrtime.bigint() / 1_000n) / 1_000;

export class Journal {
  #file;

  constructor(path) {
    this.#file = openSync(path, 'a');
  }

  write(note) {
    writeSync(this.#file, `${JSON.stringify({ at: monotonic(), ...note })}\n`);
  }

  /** Records stalls: times in which the process was stopped, or got no CPU time. */
  watchStalls() {
    let last = monotonic();
    setInterval(() => {
      const now = monotonic();
      if (now - last > BEAT_MS + STALL_MS) this.write({ note: 'stall', from: last, to: now });
      last = now;
    }, BEAT_MS).unref();
  }
}
