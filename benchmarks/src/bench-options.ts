import { parseArgs } from 'node:util';
import { PROBE_NAMES, type ProbeName } from './probes.js';
import { SUBJECT_NAMES, type SubjectName } from './subjects.js';
import { WIRE_NAMES, type WireName } from './wires/wire-rows.js';
import { WORKLOAD_NAMES, WORKLOADS, type WorkloadName } from './workloads.js';

/** Options of the command line. */
export interface BenchOptions {
  readonly workloads: readonly WorkloadName[];
  readonly probes: readonly ProbeName[];
  readonly subjects: readonly SubjectName[];
  /** The rows of the bindings. */
  readonly wires: readonly WireName[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: { readonly min: number; readonly max: number };
  readonly connections: number;
  readonly json: string | undefined;
  /** True if a missed target is a failure. */
  readonly strict: boolean;
  /** The folder for CPU profiles of the subjects. */
  readonly profile: string | undefined;
}

const OPTIONAL = WORKLOAD_NAMES.filter((name) => WORKLOADS[name].optional);

/** Help text of the command. */
export const USAGE = `npm run bench -- [options]

  --quick          one short round, for a first impression (under a minute)
  --rounds N       rounds over all servers (default 3)
  --seconds S      time measured in each (default 3)
  --warm-up S      at most so long under the same load before that, until the server is warm (default 8)
  --connections N  connections of the load generator (default 32)
  --only NAMES     some of the rows, by comma:
                   workloads ${WORKLOAD_NAMES.join(', ')};
                   probes ${PROBE_NAMES.join(', ')};
                   servers ${SUBJECT_NAMES.join(', ')};
                   bindings (wires: all of them) ${WIRE_NAMES.join(', ')};
                   ${OPTIONAL.join(', ')} are measured only when they are named
  --strict         a missed target is a failure
  --profile DIR    one round with every server under --cpu-prof; a folder in DIR for each row
  --json FILE      writes every measurement of the run
  --help           this
`;

const FULL = { rounds: 3, seconds: 3, 'warm-up': 8 };
const QUICK = { rounds: 1, seconds: 1, 'warm-up': 2 };
const LEAST_WARM_UP = 1;

/**
 * Reads the command line; `undefined` if it asks for help.
 * @throws TypeError for what is wrong with it.
 */
export function readOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      connections: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string' },
      strict: { type: 'boolean' },
      profile: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const defaults = values.quick ? QUICK : FULL;
  const warmUp = readNumber('warm-up', values['warm-up'], { fallback: defaults['warm-up'], whole: false });
  const rounds = readNumber('rounds', values.rounds, { fallback: defaults.rounds, whole: true });
  return {
    ...readOnly(values.only),
    rounds: values.profile === undefined ? rounds : 1,
    seconds: readNumber('seconds', values.seconds, { fallback: defaults.seconds, whole: false }),
    warmUpSeconds: { min: Math.min(LEAST_WARM_UP, warmUp), max: warmUp },
    connections: readNumber('connections', values.connections, { fallback: 32, whole: true }),
    json: values.json,
    strict: values.strict ?? false,
    profile: values.profile,
  };
}

function readOnly(only: string | undefined): Pick<BenchOptions, 'workloads' | 'probes' | 'subjects' | 'wires'> {
  const names = only?.split(',').map((name) => name.trim()) ?? [];
  const known: readonly string[] = [...WORKLOAD_NAMES, ...PROBE_NAMES, ...SUBJECT_NAMES, 'wires', ...WIRE_NAMES];
  const strange = names.find((name) => !known.includes(name));
  if (strange !== undefined) throw new TypeError(`--only: ${strange} is none of ${known.join(', ')}`);
  const workloads = WORKLOAD_NAMES.filter((name) => names.includes(name));
  const subjects = SUBJECT_NAMES.filter((name) => names.includes(name));
  const probes = PROBE_NAMES.filter((name) => names.includes(name));
  const wires = WIRE_NAMES.filter((name) => names.includes(name) || names.includes('wires'));
  const all = workloads.length + probes.length + wires.length === 0;
  return {
    workloads: all ? WORKLOAD_NAMES.filter((name) => !WORKLOADS[name].optional) : workloads,
    probes: all ? PROBE_NAMES : probes,
    wires: all ? WIRE_NAMES : wires,
    subjects: subjects.length > 0 ? subjects : SUBJECT_NAMES,
  };
}

function readNumber(name: string, text: string | undefined, rule: { fallback: number; whole: boolean }): number {
  if (text === undefined) return rule.fallback;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0 || (rule.whole && !Number.isInteger(value))) {
    throw new TypeError(`--${name}: ${text} is no ${rule.whole ? 'whole number' : 'number'} above 0`);
  }
  return value;
}
