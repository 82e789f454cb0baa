import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../checker/check-history.js';
import { violationLine } from '../checker/history.js';
import { runChaos } from '../harness/run-chaos.js';

const { CHAOS_BACKEND: backend = 'sqlite', CHAOS_FAULTS = '10', CHAOS_SEED = '1' } = process.env;
const faults = Number(CHAOS_FAULTS);
/** Maximum number of violations in the message of a failure. */
const SHOWN = 20;

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}

describe('replicas under load and faults', () => {
  it(
    `keep every promise on ${backend} through ${faults} faults (seed ${CHAOS_SEED})`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), `parley-chaos-${backend}-`));
      const history = await runChaos({ backend, faults, folder, seed: Number(CHAOS_SEED), tell });
      const violations = checkHistory(history).map(violationLine);
      const { logs, calls, runs, arrivals } = history;
      const events = logs.reduce((sum, { records }) => sum + records.length, 0);
      tell(`${backend}: ${logs.length} tasks, ${events} events, ${calls.length} calls, ${runs.length} runs of agents`);
      tell(`${backend}: ${arrivals.length} notifications, ${violations.length} violations`);
      if (violations.length > 0) {
        await writeFile(join(folder, 'violations.txt'), violations.join('\n'));
        await writeFile(join(folder, 'calls.json'), JSON.stringify(calls, undefined, 1));
        tell(`The evidence is kept in ${folder}`);
      } else await rm(folder, { recursive: true, force: true });
      expect(violations.slice(0, SHOWN)).toEqual([]);
      expect(logs.length).toBeGreaterThan(faults);
    },
    30_000 * faults + 300_000,
  );
});
