import { join } from 'node:path';
import type { GeneratorMessage } from '../load/generator.js';
import { profileArgs } from '../report/profile-args.js';
import { ChildProgram } from '../run/child-program.js';
import type { Cores } from '../run/cores.js';
import type { SubjectMessage } from '../subjects/subject-host.js';
import type { WorkloadName } from '../workloads.js';
import type { CallerMessage, WireResult, WireSlice } from './wire-caller.js';
import { WIRE_NAMES, WIRE_SERVERS, WIRE_WORKS, WIRES, type WireName, type WireWork } from './wire-rows.js';

/** One slice of one row. */
export interface WireMeasurement {
  readonly work: WireWork;
  readonly wire: WireName;
  readonly answers: number;
  readonly seconds: number;
  /** CPU time of the server in the slice, µs. Absent in process. */
  readonly serverMicros?: number;
  /** CPU time of the caller, µs. Absent for raw HTTP, whose generator never sleeps. */
  readonly callerMicros?: number;
  readonly faults: readonly string[];
}

/** Options of a run. */
export interface WiresOptions {
  readonly wires: readonly WireName[];
  readonly works: readonly WireWork[];
  readonly rounds: number;
  /** Length of a slice. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Calls under way at the same time. */
  readonly calls: number;
  readonly cores: Cores | undefined;
  /** The folder of CPU profiles, with a folder for each side of each row. */
  readonly profile?: string | undefined;
  /** Called after each slice. */
  readonly done?: (measurement: WireMeasurement, round: number) => void;
}

/** Raw HTTP is the load of the other workloads. */
const RAW_HTTP: {
  readonly [Caller in 'raw-jsonrpc' | 'raw-http-json']: { readonly [Work in WireWork]: WorkloadName };
} = {
  'raw-jsonrpc': { call: 'call', stream: 'stream' },
  'raw-http-json': { call: 'call-rest', stream: 'stream-rest' },
};
const PATIENCE_MS = 120_000;

/** A server and its caller, which stay for all rounds. */
interface RunningWire extends AsyncDisposable {
  readonly wire: WireName;
  slice(seconds: number): Promise<Omit<WireMeasurement, 'work' | 'wire'>>;
}

/**
 * Measures each row once per round, in short slices one after the other. Each row has a server and a caller of its own,
 * which stay warm. Each round begins with another row, so that other work of the machine falls on all rows alike.
 */
export async function runWires(options: WiresOptions): Promise<readonly WireMeasurement[][]> {
  const { wires, works, rounds, seconds, warmUpSeconds, done } = options;
  const measured = Array.from({ length: rounds }, (): WireMeasurement[] => []);
  for (const work of WIRE_WORKS.filter((name) => works.includes(name))) {
    await using running = new AsyncDisposableStack();
    const rows: RunningWire[] = [];
    for (const wire of WIRE_NAMES.filter((name) => wires.includes(name))) {
      const row = running.use(await startWire(wire, work, options));
      await row.slice(warmUpSeconds);
      rows.push(row);
    }
    for (const [round, cells] of measured.entries()) {
      const turn = round % Math.max(1, rows.length);
      for (const row of [...rows.slice(turn), ...rows.slice(0, turn)]) {
        const measurement = { work, wire: row.wire, ...(await row.slice(seconds)) };
        cells.push(measurement);
        done?.(measurement, round);
      }
    }
  }
  return measured;
}

async function startWire(wire: WireName, work: WireWork, options: WiresOptions): Promise<RunningWire> {
  const { cores, calls, profile } = options;
  const { server: name, caller } = WIRES[wire];
  const profiled = (side: string) => profileArgs(profile && join(profile, `${work}-${wire}-${side}`));
  await using stack = new AsyncDisposableStack();
  const started = <Message extends { readonly kind: string }>(program: ChildProgram<Message>) => {
    stack.defer(() => (profile === undefined ? program[Symbol.asyncDispose]() : program.end()));
    return program;
  };
  let server: ChildProgram<SubjectMessage> | undefined;
  let port = 0;
  if (name !== undefined) {
    const [program, argument] = WIRE_SERVERS[name];
    const nodeArgs = profiled('server');
    server = started(
      new ChildProgram({ program: `wires/${program}`, args: [work, argument], nodeArgs, core: cores?.subject }),
    );
    port = (await server.next('ready')).port;
  }
  const load =
    caller === 'raw-jsonrpc' || caller === 'raw-http-json'
      ? await rawHttp(started(new ChildProgram({ program: 'load/generator', core: cores?.load })), {
          ...{ workload: RAW_HTTP[caller][work], port, connections: calls },
        })
      : await callers(
          started(
            new ChildProgram({
              program: 'wires/wire-caller',
              args: [work, caller, String(port)],
              nodeArgs: profiled('caller'),
              core: cores?.load,
            }),
          ),
          calls,
        );
  const slice = async (seconds: number) => {
    const before = await cpuOf(server);
    const result = await load(seconds);
    const after = await cpuOf(server);
    const printed = server?.output ? [`the server printed: ${server.output}`] : [];
    return {
      ...result,
      faults: [...result.faults, ...printed],
      ...(before !== undefined && after !== undefined && { serverMicros: after - before }),
    };
  };
  const running = stack.move();
  return { wire, slice, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

type Load = (seconds: number) => Promise<Omit<WireResult, 'cpuMicros'> & { readonly callerMicros?: number }>;

async function callers(caller: ChildProgram<CallerMessage>, calls: number): Promise<Load> {
  await caller.next('ready');
  return async (seconds) => {
    const finished = caller.next('result', seconds * 1000 + PATIENCE_MS);
    caller.send({ seconds, calls } satisfies WireSlice);
    const { cpuMicros, ...result } = (await finished).result;
    const printed = caller.output === '' ? [] : [`the caller printed: ${caller.output}`];
    return { ...result, callerMicros: cpuMicros, faults: [...result.faults, ...printed] };
  };
}

async function rawHttp(
  generator: ChildProgram<GeneratorMessage>,
  order: { readonly workload: WorkloadName; readonly port: number; readonly connections: number },
): Promise<Load> {
  await generator.next('ready');
  return async (seconds) => {
    const finished = generator.next('result', seconds * 1000 + PATIENCE_MS);
    // The server is already warm, and answers before the measured time do not count.
    generator.send({ ...order, seconds, warmUpSeconds: { min: 0, max: 0 } });
    const { answers, seconds: took, examples } = (await finished).result;
    return { answers, seconds: took, faults: examples };
  };
}

async function cpuOf(server: ChildProgram<SubjectMessage> | undefined): Promise<number | undefined> {
  if (server === undefined) return undefined;
  const usage = server.next('usage');
  server.send({ kind: 'now' });
  return (await usage).usage.cpuMicros;
}
