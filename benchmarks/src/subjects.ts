import type { WorkloadName } from './workloads.js';

export const SUBJECT_NAMES = ['ceiling', 'peer', 'go', 'python', 'rust', 'memory', 'sqlite', 'sqlite-process'] as const;
export type SubjectName = (typeof SUBJECT_NAMES)[number];

/** The other SDKs that the subjects are compared with: the official ones, and that of the community in Rust. */
export const PEERS = ['peer', 'go', 'python', 'rust'] as const;
export type Peer = (typeof PEERS)[number];

/** The condition of a target. */
export interface Target {
  /** Another subject under the same workload, or the same subject under another workload. */
  readonly against: 'ceiling' | Peer | WorkloadName;
  readonly ratio: number;
}

/** One server that is measured. */
export interface Subject {
  readonly title: string;
  /** The guarantee for an answered request. */
  readonly durability: string;
  /** The program, beside this file. */
  readonly program: 'ceiling' | 'peer' | 'foreign-peer' | 'parley';
  /** Storage of a program that has a choice. */
  readonly storage?: 'memory' | 'sqlite' | 'sqlite-process';
  readonly targets: { readonly [Name in WorkloadName]?: readonly Target[] };
}

/** An older version may cost 15 % more than the same in 1.0. */
const OLD_VERSION = 1 / 1.15;
const FLAT: Target = { against: 'list-1k', ratio: 0.8 };

/** Ahead of the SDK in Rust. */
const AHEAD: Target = { against: 'rust', ratio: 1.1 };

/** Level with the official SDKs in other languages. */
const LEVEL: readonly Target[] = [
  { against: 'go', ratio: 1 },
  { against: 'python', ratio: 1 },
];

/** The servers of the benchmark, in the order of the table. */
export const SUBJECTS: { readonly [Name in SubjectName]: Subject } = {
  ceiling: { title: 'node:http, fixed answers', durability: 'nothing stored', program: 'ceiling', targets: {} },
  peer: { title: '@a2a-js/sdk on Express', durability: 'memory', program: 'peer', targets: {} },
  go: {
    title: 'a2a-go on net/http, one core',
    durability: 'memory',
    program: 'foreign-peer',
    targets: {},
  },
  python: {
    title: 'a2a-sdk on Starlette and uvicorn',
    durability: 'memory',
    program: 'foreign-peer',
    targets: {},
  },
  rust: {
    title: 'a2a-protocol-sdk on hyper, one core',
    durability: 'memory',
    program: 'foreign-peer',
    targets: {},
  },
  memory: {
    title: 'parley, memory',
    durability: 'memory',
    program: 'parley',
    storage: 'memory',
    targets: {
      call: [{ against: 'ceiling', ratio: 0.7 }, ...LEVEL, AHEAD],
      task: [{ against: 'ceiling', ratio: 0.6 }, { against: 'peer', ratio: 5 }, ...LEVEL, AHEAD],
      stream: [{ against: 'ceiling', ratio: 0.8 }, { against: 'peer', ratio: 7 }, ...LEVEL, AHEAD],
      get: [{ against: 'ceiling', ratio: 0.5 }, ...LEVEL],
      'list-1k': LEVEL,
      list: [FLAT],
      'call-0.3': [{ against: 'call', ratio: OLD_VERSION }],
      'task-0.3': [{ against: 'task', ratio: OLD_VERSION }],
      'stream-0.3': [{ against: 'stream', ratio: OLD_VERSION }],
    },
  },
  sqlite: {
    title: 'parley, SQLite',
    durability: 'power loss (default)',
    program: 'parley',
    storage: 'sqlite',
    targets: { task: [{ against: 'peer', ratio: 2 }], list: [FLAT] },
  },
  'sqlite-process': {
    title: 'parley, SQLite ?durability=process',
    durability: 'crash of the process',
    program: 'parley',
    storage: 'sqlite-process',
    targets: {},
  },
};
