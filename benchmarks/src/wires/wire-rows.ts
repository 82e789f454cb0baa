/** The work of a caller: to get one answer, or a stream of events. */
export const WIRE_WORKS = ['call', 'stream'] as const;
export type WireWork = (typeof WIRE_WORKS)[number];

/** The servers: programs of this folder, with their argument. Those of Parley have all bindings. */
export const WIRE_SERVERS = {
  parley: ['parley-server', 'http'],
  'parley-grpc': ['parley-server', 'grpc'],
  'bare-grpc': ['bare-grpc', ''],
  'peer-grpc': ['peer-grpc', ''],
  'bare-capnweb': ['bare-capnweb', ''],
} as const;
export type WireServer = keyof typeof WIRE_SERVERS;

/** The callers: `raw-` without a client of A2A, `client-` our client. */
export const WIRE_CALLERS = [
  'raw-jsonrpc',
  'raw-http-json',
  'raw-grpc',
  'raw-capnweb',
  'client-jsonrpc',
  'client-http-json',
  'client-grpc',
  'client-capnweb',
  'client-in-process',
] as const;
export type WireCaller = (typeof WIRE_CALLERS)[number];

export const WIRE_NAMES = [
  'jsonrpc',
  'http-json',
  'grpc',
  'bare-grpc',
  'peer-grpc',
  'capnweb',
  'bare-capnweb',
  'client-jsonrpc',
  'client-http-json',
  'client-grpc',
  'client-capnweb',
  'in-process',
] as const;
export type WireName = (typeof WIRE_NAMES)[number];

/** One row: a server and its caller. */
export interface WireRow {
  readonly title: string;
  /** The side whose CPU time counts. */
  readonly side: 'server' | 'client';
  /** Absent: the server is in the process of the caller. */
  readonly server?: WireServer;
  readonly caller: WireCaller;
  /** Ratios to the answers per second of CPU of other rows. */
  readonly targets: readonly { readonly against: WireName; readonly ratio: number }[];
}

const BARE = 0.6;

/** The rows of the table. */
export const WIRES: { readonly [Name in WireName]: WireRow } = {
  jsonrpc: { title: 'parley, JSON-RPC', side: 'server', server: 'parley', caller: 'raw-jsonrpc', targets: [] },
  'http-json': { title: 'parley, HTTP+JSON', side: 'server', server: 'parley', caller: 'raw-http-json', targets: [] },
  grpc: {
    title: 'parley, gRPC',
    side: 'server',
    server: 'parley-grpc',
    caller: 'raw-grpc',
    targets: [
      { against: 'bare-grpc', ratio: BARE },
      { against: 'peer-grpc', ratio: 2 },
    ],
  },
  'bare-grpc': {
    title: '@grpc/grpc-js, fixed answers',
    side: 'server',
    server: 'bare-grpc',
    caller: 'raw-grpc',
    targets: [],
  },
  'peer-grpc': { title: '@a2a-js/sdk, gRPC', side: 'server', server: 'peer-grpc', caller: 'raw-grpc', targets: [] },
  capnweb: {
    title: "parley, Cap'n Web",
    side: 'server',
    server: 'parley',
    caller: 'raw-capnweb',
    targets: [{ against: 'bare-capnweb', ratio: BARE }],
  },
  'bare-capnweb': {
    title: 'capnweb on ws, fixed answers',
    side: 'server',
    server: 'bare-capnweb',
    caller: 'raw-capnweb',
    targets: [],
  },
  'client-jsonrpc': {
    title: 'our client, JSON-RPC',
    side: 'client',
    server: 'parley',
    caller: 'client-jsonrpc',
    targets: [],
  },
  'client-http-json': {
    title: 'our client, HTTP+JSON',
    side: 'client',
    server: 'parley',
    caller: 'client-http-json',
    targets: [],
  },
  'client-grpc': {
    title: 'our client, gRPC',
    side: 'client',
    server: 'parley-grpc',
    caller: 'client-grpc',
    targets: [],
  },
  'client-capnweb': {
    title: "our client, Cap'n Web",
    side: 'client',
    server: 'parley',
    caller: 'client-capnweb',
    targets: [],
  },
  'in-process': {
    title: 'our client, in process (both sides)',
    side: 'client',
    caller: 'client-in-process',
    targets: [{ against: 'client-jsonrpc', ratio: 5 }],
  },
};
