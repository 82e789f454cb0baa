import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstMinutesBound } from '../support/first-minutes.js';
import { StartedServer } from './started-server.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** A cold start, as a multiple of `npm ci` of the same packages. */
const MOST = firstMinutesBound('`npm start` in a new clone, divided by `npm ci` of the same packages');
const ROUNDS = 2;

/** Takes a minute, and packages of the registry. */
describe.runIf(process.env.TEST_LONG !== undefined)('npm start in a clone', { timeout: 900_000 }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-cold-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function clone(name: string): Promise<string> {
    await run('git', ['clone', '--quiet', root, join(folder, name)]);
    return join(folder, name);
  }

  /** Milliseconds until the server listens. */
  async function measureStart(place: string): Promise<number> {
    const began = performance.now();
    const server = new StartedServer({ path: (path) => join(place, path) }, []);
    try {
      await server.listens();
      return performance.now() - began;
    } finally {
      await server.interrupt();
    }
  }

  async function measureInstall(place: string): Promise<number> {
    const part = ['--workspace=examples/agents', '--include-workspace-root=false', '--include=dev'];
    const began = performance.now();
    await run('npm', ['ci', ...part, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: place });
    return performance.now() - began;
  }

  it(`takes at most ${MOST} × npm ci when cold`, async () => {
    const times = { cold: [] as number[], warm: [] as number[], ci: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      times.ci.push(await measureInstall(await clone(`ci-${round}`)));
      const place = await clone(`start-${round}`);
      times.cold.push(await measureStart(place));
      times.warm.push(await measureStart(place));
    }
    const [cold, warm, ci] = [times.cold, times.warm, times.ci].map((all) => Math.min(...all) / 1000) as [
      number,
      number,
      number,
    ];
    process.stdout.write(
      `npm start: cold ${cold.toFixed(1)} s, warm ${warm.toFixed(1)} s; npm ci ${ci.toFixed(1)} s; ${(cold / ci).toFixed(2)} ×\n`,
    );
    expect(cold / ci).toBeLessThanOrEqual(MOST);
  });
});
