import { CAPNWEB_BINDING, capnwebBinding, capnwebTransport } from '../../../packages/capnweb/src/index.js';
import { grpcBinding, grpcTransport } from '../../../packages/grpc/src/index.js';
import type { HostExtension } from '../../../packages/parley/src/app/host-extension.js';
import type { Client } from '../../../packages/parley/src/client/client.js';
import { type ConnectOptions, connect } from '../../../packages/parley/src/exports/client.js';
import type { A2AHost } from '../../../packages/parley/src/exports/node.js';
import type { OperationName } from '../../../packages/parley/src/operations/operations.js';
import { beginsWithState, PLAIN_OPERATIONS, plainArguments } from './plain-arguments.js';
import {
  AS_URL,
  CALLED,
  CANCEL_METADATA,
  DECLARED,
  ENDLESS,
  HISTORY_LENGTH,
  NO_EXTENDED_CARD,
  OTHER_VERSION,
  RATE,
  SUBSCRIBING,
  TOO_LONG,
  VALUES,
} from './special-scenarios.js';

/** The versions of the protocol that the matrix plays. */
export type MatrixVersion = '1.0' | '0.3';

/** An agent of a running host, and a version of it. */
export interface CalledAgent {
  readonly host: A2AHost;
  readonly path: string;
  readonly version: MatrixVersion;
  readonly options: ConnectOptions;
}

/** A binding of the matrix. A new binding adds a row to `BINDINGS`. */
export interface BindingRow {
  readonly name: string;
  readonly versions: readonly MatrixVersion[];
  /** The further bindings of a host with these paths. Absent: every host has the binding. */
  readonly serves?: (paths: readonly string[]) => readonly HostExtension[];
  readonly connect: (agent: CalledAgent) => Promise<Client>;
  /** The scenarios that the binding cannot play in a version, by the ends of their names. Default: none. */
  readonly without?: (version: MatrixVersion) => readonly string[];
  /** The operations that the binding has. Default: all of the version. */
  readonly operations?: readonly OperationName[];
  /** The members of an outcome that the binding has no place for. Default: none. */
  readonly apart?: readonly string[];
  /** The part of an outcome that the binding shows. Default: all of it. */
  readonly normalize?: (outcome: unknown) => unknown;
}

/** A client of one binding in one version, by the card of the agent with all its interfaces. */
function byCard(binding: string, further: ConnectOptions = {}): BindingRow['connect'] {
  return async ({ host, path, version, options }) => {
    const card = host.agentCards[path];
    if (card === undefined) throw new Error(`No agent is at ${path}`);
    const supportedInterfaces = host.interfaces[path] ?? [];
    return connect({ ...card, supportedInterfaces }, { ...options, ...further, binding, version });
  };
}

/** Every binding with its versions. The first row in its first version is the reference. */
export const BINDINGS: readonly BindingRow[] = [
  { name: 'JSON-RPC', versions: ['1.0', '0.3'], connect: byCard('JSONRPC') },
  { name: 'HTTP+JSON', versions: ['1.0', '0.3'], connect: byCard('HTTP+JSON') },
  {
    name: "Cap'n Web",
    versions: ['1.0'],
    serves: () => [capnwebBinding()],
    connect: byCard(CAPNWEB_BINDING, { bindings: [capnwebTransport()] }),
    // The WebSocket counts as a request. A frame that is too long ends the session.
    without: () => [TOO_LONG, RATE, OTHER_VERSION],
    apart: ['challenges'],
  },
  {
    // The row above serves it, too.
    name: "Cap'n Web with plain arguments",
    versions: ['0.3'],
    connect: byCard('CAPNWEB', { bindings: [plainArguments] }),
    operations: PLAIN_OPERATIONS,
    // Plain arguments have no service parameters. A cancel and a status have no metadata.
    without: () => [
      ...[
        TOO_LONG,
        // The library of this client writes 256 levels, and values that are no JSON.
        ENDLESS,
        VALUES,
        RATE,
        CANCEL_METADATA,
        DECLARED,
        AS_URL,
        CALLED,
        OTHER_VERSION,
        NO_EXTENDED_CARD,
      ],
      ...SUBSCRIBING,
    ],
    apart: ['challenges'],
    normalize: beginsWithState,
  },
  // gRPC serves one agent on each port.
  {
    name: 'gRPC',
    versions: ['1.0', '0.3'],
    serves: (paths) => paths.map((agent) => grpcBinding({ agent, port: 0 })),
    connect: byCard('GRPC', { bindings: [grpcTransport()] }),
    // The messages of 0.3 have no metadata of a cancel, and no history length of zero.
    without: (version) => (version === '1.0' ? [] : [CANCEL_METADATA, HISTORY_LENGTH]),
  },
  {
    name: 'in-process',
    versions: ['1.0'],
    connect: ({ host, path, options }) => connect(host, { ...options, path }),
    without: () => [OTHER_VERSION],
  },
];
