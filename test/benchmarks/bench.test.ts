import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WIRE_NAMES, type WireName } from '../../benchmarks/src/wires/wire-rows.js';

const MAIN = fileURLToPath(new URL('../../benchmarks/dist/main.js', import.meta.url));
const run = promisify(execFile);

const isLong = process.env.TEST_LONG !== undefined;
/** Long enough for some answers of a server that starts on a busy machine. */
const SECONDS = '1';
/** The bindings that are measured: in the short form those whose targets the test reads, and a third kind of server. */
const SOME_WIRES: readonly WireName[] = ['grpc', 'bare-grpc', 'capnweb', 'client-jsonrpc', 'in-process'];
const AMONG_STORED = 'list-1k,stream-rest,ceiling,memory';
const WIRES = isLong ? WIRE_NAMES : SOME_WIRES;

interface Report {
  readonly rows: readonly { workload: string; subject: string; rate: number; faults: number; examples: string[] }[];
  readonly wires: readonly { work: string; wire: string; rate: number; faults: readonly string[] }[];
  readonly probes: readonly { probe: string; subject: string; value: number; faults: string[] }[];
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The output of a run of the command, with short rounds and few connections. */
async function bench(...args: string[]): Promise<{ output: string; report: Report }> {
  const json = join(folder, 'report.json');
  // Long enough for an answer from every server also where others keep the machine busy.
  const short = ['--rounds', '1', '--seconds', SECONDS, '--warm-up', '0.2', '--connections', '4'];
  const command = [MAIN, ...short, '--json', json, ...args];
  const { stdout } = await run(process.execPath, command).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`the command failed:\n${error.stdout}\n${error.stderr}`);
  });
  return { output: stdout, report: JSON.parse(await readFile(json, 'utf8')) as Report };
}

describe('npm run bench', () => {
  it('measures every row and finds no wrong answer', { timeout: 240_000 }, async () => {
    const workloads = isLong ? ['call', 'task', 'stream'] : ['call', 'task'];
    const servers = ['ceiling', 'memory', 'sqlite', ...(isLong ? ['sqlite-process'] : [])];
    const { output, report } = await bench('--only', [...workloads, ...servers].join(','));
    const rows = report.rows.map(({ workload, subject }) => `${workload} ${subject}`);
    expect(rows).toEqual(workloads.flatMap((name) => servers.map((server) => `${name} ${server}`)));
    for (const { rate, faults, examples } of report.rows) {
      expect({ faults, examples }).toEqual({ faults: 0, examples: [] });
      expect(rate).toBeGreaterThan(0);
    }
    expect(output).toContain('power loss (default)');
    expect(output).toMatch(/[✔✘] \d+ % \(≥ 70 %\)/);
  });

  it('reads among stored tasks, and over HTTP+JSON', { timeout: 240_000 }, async () => {
    // To store 100,000 tasks takes long, and the server then collects garbage where others keep the machine busy.
    const stored = isLong ? ['--seconds', '2', '--only', `get,${AMONG_STORED}`] : ['--only', AMONG_STORED];
    const { report } = await bench(...stored);
    expect(report.rows.map(({ workload, subject }) => `${workload} ${subject}`)).toEqual([
      ...(isLong ? ['get ceiling', 'get memory'] : []),
      'list-1k memory',
      'stream-rest ceiling',
      'stream-rest memory',
    ]);
    for (const { rate, faults, examples } of report.rows) {
      expect({ faults, examples }).toEqual({ faults: 0, examples: [] });
      expect(rate).toBeGreaterThan(0);
    }
  });

  it('probes what is no rate of requests', { timeout: 240_000 }, async () => {
    const { output, report } = await bench('--only', 'chunks,fan-out,ceiling,memory');
    expect(report.probes.map(({ probe, subject }) => `${probe} ${subject}`)).toEqual([
      'chunks memory',
      'fan-out ceiling',
      'fan-out memory',
    ]);
    for (const { value, faults } of report.probes) {
      expect(faults).toEqual([]);
      expect(value).toBeGreaterThan(0);
    }
    expect(output).toMatch(/[✔✘] [\d.]+ \(≤ 1\.2\)/);
    expect(output).toMatch(/[✔✘] [\d.]+ \(≥ 0\.6 × ceiling\)/);
  });

  it('measures the bindings, by servers and clients, against bare servers and the peer', {
    timeout: 240_000,
  }, async () => {
    const { output, report } = await bench('--only', isLong ? 'wires' : WIRES.join(','), '--seconds', '0.3');
    expect(report.wires.map(({ work, wire }) => `${work} ${wire}`)).toEqual(
      ['call', 'stream'].flatMap((work) => WIRES.map((wire) => `${work} ${wire}`)),
    );
    for (const { rate, faults } of report.wires) {
      expect(faults).toEqual([]);
      expect(rate).toBeGreaterThan(0);
    }
    expect(output).toMatch(/[✔✘] [\d.]+ × @grpc\/grpc-js, fixed answers \(≥ 0\.6\)/);
    expect(output).toMatch(/[✔✘] [\d.]+ × our client, JSON-RPC \(≥ 5\)/);
  });

  it('leaves CPU profiles, and counts a missed target as a failure, when it is asked to', {
    timeout: 240_000,
  }, async () => {
    const profiles = join(folder, 'profiles');
    const short = ['--quick', '--seconds', SECONDS, '--warm-up', '0.2', '--connections', '4'];
    const args = [...short, '--only', 'task,ceiling,memory', '--strict', '--profile', profiles];
    const { code, stdout } = await run(process.execPath, [MAIN, ...args]).then(
      (done) => ({ ...done, code: 0 }),
      (failed: { code: number; stdout: string }) => failed,
    );
    expect(code).toBe(stdout.includes('✘') ? 1 : 0);
    expect(stdout).toMatch(/[✔✘] \d+ % \(≥ 60 %\)/);
    expect((await readdir(profiles)).sort()).toEqual(['task-ceiling', 'task-memory']);
    expect(await readdir(join(profiles, 'task-memory'))).toEqual([expect.stringMatching(/\.cpuprofile$/)]);
  });

  it('says what is wrong with its arguments', async () => {
    await expect(run(process.execPath, [MAIN, '--only', 'everything'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--only: everything is none of call, task, stream'),
    });
    await expect(run(process.execPath, [MAIN, '--rounds', '0'])).rejects.toMatchObject({ code: 1 });
  });
});
