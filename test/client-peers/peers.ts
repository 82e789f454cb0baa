import { fileURLToPath } from 'node:url';

/** A server on another SDK, and its deviations. */
export interface Peer {
  /** Undefined where it cannot be run. */
  readonly command: readonly [program: string | undefined, ...args: string[]];
  readonly version: '1.0' | '0.3';
  /** Faults of the server, which no client can hide. */
  readonly faults?: readonly Fault[];
}

/** A fault of a server. */
export type Fault =
  /** A chunk that two connections watch is stored twice. */
  | 'stores watched chunks twice'
  /** A subscription shows neither the task nor what was before it. */
  | 'subscribes without a snapshot'
  /** Streams do not learn that their task is canceled. */
  | 'hides cancelling from streams'
  /** Over HTTP+JSON a refused stream has no reason: the connection ends, or there is an internal error. */
  | 'breaks off refused streams'
  /** Webhooks are found by their task only; over HTTP+JSON they are neither listed nor removed. */
  | 'confuses webhooks'
  /** A message to a finished task gets another error. A subscription to it is TaskNotFound. */
  | 'misnames ended tasks';

const server = (name: string) => fileURLToPath(new URL(`servers/${name}`, import.meta.url));
const { PYTHON_1_0, PYTHON_0_3, GO_1_0 } = process.env;

/** The servers by what they run on. */
export const PEERS = {
  'JavaScript SDK': { command: [process.execPath, server('javascript.mjs')], version: '1.0' },
  'JavaScript SDK 0.3': {
    command: [process.execPath, server('javascript-0-3.mjs')],
    version: '0.3',
    faults: ['breaks off refused streams'],
  },
  'Python SDK': { command: [PYTHON_1_0, '-B', server('python.py')], version: '1.0' },
  'Go SDK': {
    command: [GO_1_0],
    version: '1.0',
    faults: ['misnames ended tasks'],
  },
  'Python SDK 0.3': {
    command: [PYTHON_0_3, '-B', server('python_0_3.py')],
    version: '0.3',
    faults: [
      'stores watched chunks twice',
      'subscribes without a snapshot',
      'hides cancelling from streams',
      'breaks off refused streams',
      'confuses webhooks',
    ],
  },
} as const satisfies Readonly<Record<string, Peer>>;
export type PeerName = keyof typeof PEERS;
