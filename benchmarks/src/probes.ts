import { measureBodies } from './probes/body-cost.js';
import { measureChunks } from './probes/chunks.js';
import { measureClientCost, shareOfPeer, timesFetch } from './probes/client-cost.js';
import { measureFanOut } from './probes/fan-out.js';
import { measureHeap } from './probes/heap.js';
import { measureOperationsCost } from './probes/operations-cost.js';
import type { Measured, ProbedServer } from './probes/probed-server.js';
import { measureFirstToken, measureIdlePush, measureProtection, measureToken } from './probes/protection-cost.js';
import { measurePush } from './probes/push.js';
import { measureStalledReader } from './probes/stalled-reader.js';
import { measureStart } from './probes/start.js';
import { measureUploads } from './probes/uploads.js';
import type { SubjectName } from './subjects.js';

export const PROBE_NAMES = [
  'chunks',
  'fan-out',
  'push',
  'stalled',
  'stalled-1mb',
  'heap',
  'start',
  'operations',
  'bodies',
  'protection',
  'protection-sqlite',
  'token',
  'first-token',
  'push-idle',
  'upload',
  'client',
  'client-stream',
  'client-overhead',
  'client-stream-overhead',
] as const;
export type ProbeName = (typeof PROBE_NAMES)[number];

/** The condition of a figure, alone or as a ratio to that of another subject. */
export interface ProbeTarget {
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly against?: SubjectName;
}

/** A figure that is no rate of requests, and how a subject comes to it. */
export interface Probe {
  readonly title: string;
  readonly unit: string;
  readonly subjects: readonly SubjectName[];
  /** With a server of the subject, or with none. */
  readonly measure:
    | { readonly served: (server: ProbedServer) => Promise<Measured> }
    | { readonly alone: (core: number | undefined) => Promise<Measured> };
  readonly targets: { readonly [Name in SubjectName]?: ProbeTarget };
}

const KB = 1024;
const MB = 1024 * KB;
/** Fewer chunks for the peer, because each chunk costs it more than the last one. */
const PEER_CHUNKS = 2000;

/** The probes of the benchmark. */
export const PROBES: { readonly [Name in ProbeName]: Probe } = {
  chunks: {
    title: `one artifact of 10,000 chunks (the peer: ${PEER_CHUNKS}): CPU time per chunk in the last tenth, against the first`,
    unit: '×',
    subjects: ['peer', 'memory', 'sqlite'],
    measure: { served: (server) => measureChunks(server, server.subject === 'peer' ? PEER_CHUNKS : 10_000) },
    targets: { memory: { atMost: 1.2 }, sqlite: { atMost: 1.2 } },
  },
  'fan-out': {
    title: 'one task with 500 subscribers: events delivered per second of CPU time; the ceiling writes ready strings',
    unit: 'events/CPU s',
    subjects: ['ceiling', 'memory', 'sqlite'],
    measure: { served: (server) => measureFanOut(server, { subscribers: 500, events: 200 }) },
    targets: { memory: { atLeast: 0.6, against: 'ceiling' } },
  },
  push: {
    title:
      'push notifications of 100 tasks at a time to a receiver on this machine, 200 chunks each, per second of CPU time; the ceiling sends ready strings',
    unit: 'deliveries/CPU s',
    subjects: ['ceiling', 'memory', 'sqlite'],
    measure: { served: (server) => measurePush(server, { tasks: 100, chunks: 200 }) },
    targets: { memory: { atLeast: 0.6, against: 'ceiling' }, sqlite: { atLeast: 0.6, against: 'ceiling' } },
  },
  stalled: {
    title:
      'a reader that stops reading while 256 MB are produced, an artifact replaced by 64 kB each time: highest RSS above idle',
    unit: 'MB',
    subjects: ['peer', 'sqlite'],
    measure: { served: (server) => measureStalledReader(server, { piece: 64 * KB, total: 256 * MB }) },
    targets: { sqlite: { atMost: 32 } },
  },
  'stalled-1mb': {
    title: 'the same with pieces of 1 MB',
    unit: 'MB',
    subjects: ['peer', 'sqlite'],
    measure: { served: (server) => measureStalledReader(server, { piece: MB, total: 256 * MB }) },
    targets: {},
  },
  heap: {
    title: 'heap of each of 20,000 finished tasks whose event log has expired',
    unit: 'bytes',
    subjects: ['peer', 'memory'],
    measure: { served: (server) => measureHeap(server, 20_000) },
    targets: { memory: { atMost: 2048 } },
  },
  start: {
    title: 'from the start of the process to the answer of the first SendMessage (example agents)',
    unit: 'ms',
    subjects: ['sqlite'],
    measure: { alone: measureStart },
    targets: { sqlite: { atMost: 500 } },
  },
  operations: {
    title:
      'everything around a call switched on (versions, figures, ids, logs at warn, CORS, compression, base server, OpenAPI), against off: CPU time per request',
    unit: '×',
    subjects: ['memory'],
    measure: { alone: measureOperationsCost },
    targets: { memory: { atMost: 1.08 } },
  },
  bodies: {
    title: 'a body from its bytes to the accepted message: CPU time, against JSON.parse, in the worst of five shapes',
    unit: '×',
    subjects: ['memory'],
    measure: { alone: measureBodies },
    targets: { memory: { atMost: 4 } },
  },
  protection: {
    title: 'an API key, an owner and rates for each task: rate, against an open server, by CPU time',
    unit: '×',
    subjects: ['memory'],
    measure: { alone: (core) => measureProtection('memory', core) },
    targets: { memory: { atLeast: 0.9 } },
  },
  'protection-sqlite': {
    title: 'the same on SQLite',
    unit: '×',
    subjects: ['sqlite'],
    measure: { alone: (core) => measureProtection('sqlite', core) },
    targets: { sqlite: { atLeast: 0.9 } },
  },
  token: {
    title: 'a JWT that the server has seen, for each task, against a server with idempotent sends: CPU time per task',
    unit: '×',
    subjects: ['memory'],
    measure: { alone: (core) => measureToken('memory', core) },
    targets: { memory: { atMost: 1.2 } },
  },
  'first-token': {
    title: 'a new JWT, beyond the check of its library with the same rules: CPU time',
    unit: 'µs',
    subjects: ['memory'],
    measure: { alone: measureFirstToken },
    targets: { memory: { atMost: 10 } },
  },
  'push-idle': {
    title: 'push notifications that no task has, against a server without them: CPU time per task',
    unit: '×',
    subjects: ['memory'],
    measure: { alone: (core) => measureIdlePush('memory', core) },
    targets: { memory: { atMost: 1.02 } },
  },
  upload: {
    title: 'a file of 64 MiB to a directory, against a bare stream to the same disk: MiB per second of CPU time',
    unit: '×',
    subjects: ['sqlite'],
    measure: { alone: measureUploads },
    targets: { sqlite: { atLeast: 0.8 } },
  },
  client: {
    title: 'our client against bare `fetch` and JSON, one call at a time: CPU time per call',
    unit: '×',
    subjects: ['ceiling'],
    measure: { alone: async (core) => timesFetch(await measureClientCost('call', core)) },
    targets: { ceiling: { atMost: 1.3 } },
  },
  'client-stream': {
    title: 'the same with streams of 50 chunks: CPU time per event',
    unit: '×',
    subjects: ['ceiling'],
    measure: { alone: async (core) => timesFetch(await measureClientCost('stream', core)) },
    targets: { ceiling: { atMost: 1.3 } },
  },
  'client-overhead': {
    title: 'what our client adds to `fetch` per call, as a share of what the official client adds',
    unit: '×',
    subjects: ['ceiling'],
    measure: { alone: async (core) => shareOfPeer(await measureClientCost('call', core)) },
    targets: { ceiling: { atMost: 0.5 } },
  },
  'client-stream-overhead': {
    title: 'the same per event of a stream of 50 chunks',
    unit: '×',
    subjects: ['ceiling'],
    measure: { alone: async (core) => shareOfPeer(await measureClientCost('stream', core)) },
    targets: { ceiling: { atMost: 0.5 } },
  },
};
