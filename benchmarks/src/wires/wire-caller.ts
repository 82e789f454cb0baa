// A caller's process: loads a server for a time, as often as its parent asks.
import { WIRE_CALLS } from './wire-calls.js';
import { workArgument } from './wire-host.js';

/** One slice of load. */
export interface WireSlice {
  readonly seconds: number;
  /** Calls under way at the same time. */
  readonly calls: number;
}

/** The result of one slice. CPU times are those of the caller, µs. */
export interface WireResult {
  readonly answers: number;
  readonly seconds: number;
  readonly cpuMicros: number;
  readonly faults: readonly string[];
}

/** Messages of a caller. */
export type CallerMessage =
  | { readonly kind: 'ready' | 'begun' }
  | { readonly kind: 'result'; readonly result: WireResult };

const [, , , name = '', port] = process.argv;
const open = Object.entries(WIRE_CALLS).find(([known]) => known === name)?.[1];
if (open === undefined) throw new TypeError(`${name} is no caller`);
const calls = await open(workArgument(), Number(port));
process.once('disconnect', () => process.exit());
process.on('message', (slice: WireSlice) => void load(slice));
tell({ kind: 'ready' });

async function load({ seconds, calls: atOnce }: WireSlice): Promise<void> {
  const faults: string[] = [];
  let answers = 0;
  tell({ kind: 'begun' });
  const start = performance.now();
  const before = process.cpuUsage();
  const end = start + seconds * 1000;
  const loop = async (at: number) => {
    const call = calls[at % calls.length];
    while (performance.now() < end && faults.length === 0) {
      try {
        await call?.();
        answers += 1;
      } catch (error) {
        faults.push(String(error).slice(0, 500));
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, at) => loop(at)));
  const { user, system } = process.cpuUsage(before);
  tell({
    kind: 'result',
    result: { answers, seconds: (performance.now() - start) / 1000, cpuMicros: user + system, faults },
  });
}

function tell(message: CallerMessage): void {
  process.send?.(message);
}
