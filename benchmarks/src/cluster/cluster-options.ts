import { parseArgs } from 'node:util';

/** The databases that replicas can share. */
export const BACKENDS = ['postgres', 'redis'] as const;
export type Backend = (typeof BACKENDS)[number];

/** The parts of a run. */
export const PARTS = ['rates', 'latencies', 'event-cost', 'task-cost'] as const;
export type Part = (typeof PARTS)[number];

/** Options of `npm run bench:cluster`. */
export interface ClusterOptions {
  readonly backends: readonly Backend[];
  /** Urls of servers that run already, by backend. Absent: the benchmark starts its own. */
  readonly urls: Readonly<Partial<Record<Backend, string>>>;
  readonly parts: readonly Part[];
  readonly replicas: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  /** Clients that call at the same time. */
  readonly clients: number;
  /** Events of the longest task. */
  readonly events: number;
  /** Tasks of the fullest store. */
  readonly tasks: number;
  readonly json: string | undefined;
}

/** Help text of the command. */
export const USAGE = `npm run bench:cluster -- [options]

  --quick          one short round with small stores (two minutes)
  --backend NAMES  ${BACKENDS.join(', ')} (default: both)
  --postgres URL   a server that runs already. Default: starts one, with fsync
  --redis URL      a server that runs already. Default: starts one, with appendfsync always
  --only PARTS     ${PARTS.join(', ')}
  --replicas LIST  numbers of replicas (default 1,2,4)
  --rounds N       rounds over all numbers of replicas (default 3)
  --seconds S      time measured in each (default 5)
  --clients N      calls at the same time (default 64)
  --events N       events of the longest task (default 100000)
  --tasks N        tasks of the fullest store (default 100000)
  --json FILE      writes all measurements
`;

const FULL = { rounds: 3, seconds: 5, events: 100_000, tasks: 100_000, replicas: '1,2,4' };
const QUICK = { rounds: 1, seconds: 2, events: 10_000, tasks: 10_000, replicas: '1,2' };

/**
 * Reads the command line; `undefined` if it asks for help.
 * @throws TypeError for a wrong option.
 */
export function readClusterOptions(args: readonly string[]): ClusterOptions | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean' },
      backend: text,
      postgres: text,
      redis: text,
      only: text,
      replicas: text,
      rounds: text,
      seconds: text,
      clients: text,
      events: text,
      tasks: text,
      json: text,
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const defaults = values.quick ? QUICK : FULL;
  const { postgres, redis } = values;
  return {
    backends: chosen('backend', values.backend, BACKENDS),
    urls: { ...(postgres !== undefined && { postgres }), ...(redis !== undefined && { redis }) },
    parts: chosen('only', values.only, PARTS),
    replicas: (values.replicas ?? defaults.replicas).split(',').map((one) => positive('replicas', one)),
    rounds: positive('rounds', values.rounds ?? defaults.rounds),
    seconds: positive('seconds', values.seconds ?? defaults.seconds),
    clients: positive('clients', values.clients ?? 64),
    events: positive('events', values.events ?? defaults.events),
    tasks: positive('tasks', values.tasks ?? defaults.tasks),
    json: values.json,
  };
}

function chosen<Name extends string>(flag: string, text: string | undefined, names: readonly Name[]): readonly Name[] {
  if (text === undefined) return names;
  const asked = text.split(',').map((one) => one.trim());
  const strange = asked.find((one) => !names.some((name) => name === one));
  if (strange !== undefined) throw new TypeError(`--${flag}: ${strange} is none of ${names.join(', ')}`);
  return names.filter((name) => asked.includes(name));
}

function positive(flag: string, text: string | number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new TypeError(`--${flag}: ${text} is no whole number above 0`);
  return value;
}
