import { CAPNWEB_BINDING, capnwebTransport } from '../../packages/capnweb/src/index.js';
import { grpcTransport } from '../../packages/grpc/src/index.js';
import type { Client } from '../../packages/parley/src/client/client.js';
import { CLIENT_VERSIONS } from '../../packages/parley/src/codec/client-codecs.js';
import { A2AError } from '../../packages/parley/src/errors/a2a-error.js';
import { type ConnectOptions, connect } from '../../packages/parley/src/exports/client.js';
import { bearerToken } from '../../packages/parley/src/exports/credentials.js';
import type { A2AServer } from '../../packages/parley/src/exports/node.js';
import type { OperationName } from '../../packages/parley/src/operations/operations.js';
import { callOperation } from '../matrix/every-binding/outcome.js';
import type { Caller, Way } from './owners-world.js';

interface Row {
  readonly name: string;
  readonly version: '1.0' | '0.3';
  readonly connect: (server: A2AServer, options: ConnectOptions) => Promise<Client>;
}

const byCard = (further: ConnectOptions): Row['connect'] => {
  return (server, options) => connect(server.agentCard, { ...options, ...further });
};

/** Bindings whose messages are no text of HTTP. */
const ROWS: readonly Row[] = [
  {
    name: 'gRPC 1.0',
    version: '1.0',
    connect: byCard({ binding: 'GRPC', version: '1.0', bindings: [grpcTransport()] }),
  },
  {
    name: 'gRPC 0.3',
    version: '0.3',
    connect: byCard({ binding: 'GRPC', version: '0.3', bindings: [grpcTransport()] }),
  },
  {
    name: "Cap'n Web",
    version: '1.0',
    connect: byCard({ binding: CAPNWEB_BINDING, version: '1.0', bindings: [capnwebTransport()] }),
  },
  { name: 'in-process', version: '1.0', connect: (server, options) => connect(server, options) },
];

/** The ways of a listening server that have no text of HTTP. Their answers are those that a client reads. */
export async function clientWays(server: A2AServer): Promise<{ readonly ways: readonly Way[]; close(): void }> {
  const clients = new Map<string, Promise<Client>>();
  const clientOf = (row: Row, { user, tenant }: Caller) => {
    const key = JSON.stringify([row.name, user, tenant]);
    const options: ConnectOptions = {
      retry: { attempts: 0 },
      ...(user !== '' && { credentials: bearerToken(user) }),
      ...(tenant !== undefined && { tenant }),
    };
    const client = clients.get(key) ?? row.connect(server, options);
    clients.set(key, client);
    return client;
  };
  const ways = await Promise.all(ROWS.map((row) => wayOf(row, (caller) => clientOf(row, caller))));
  return {
    ways,
    close: () => {
      for (const client of clients.values()) void client.then((one) => one.close());
    },
  };
}

async function wayOf({ name, version }: Row, clientOf: (caller: Caller) => Promise<Client>): Promise<Way> {
  const codec = (await CLIENT_VERSIONS.get(version)?.())?.jsonRpc;
  return {
    name,
    hasTenants: version === '1.0',
    has: (operation: OperationName) => codec?.methodOf(operation) !== undefined,
    async call(caller, operation, request, headers = {}) {
      const client = await clientOf(caller);
      const start = performance.now();
      const answer = await callOperation(client, operation, request, { headers }).then(
        (result) => ({ result }),
        (error: unknown) => ({ error: readError(error) }),
      );
      const ms = performance.now() - start;
      return { status: 0, headers: {}, text: JSON.stringify(answer), ms };
    },
  };
}

/** Returns the parts of an error that a caller sees. */
function readError(error: unknown): object {
  if (!(error instanceof A2AError)) throw error;
  const { name, code, message, details } = error;
  return { name, code, message, details };
}
