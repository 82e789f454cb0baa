import type { OperationName, OperationTypes, UnaryOperationName } from '../../operations/operations.js';
import type { ClientCodec } from '../client-codec.js';
import { clientV1_0 } from '../v1_0/client-codec.js';
import { type Dialect, KINDS, PROTO_JSON } from './dialect.js';
import { objectReader } from './members-reader.js';
import { type OldOperation, type OldOperations, operationOf, operations0_3 } from './operations.js';
import { streamResponseReader } from './stream-response.js';

/** The differences between the client codecs of the versions before 1.0. */
interface OldClientVersion {
  /** `Major.Minor`. */
  readonly version: string;
  readonly dialect: Dialect;
  readonly operations: OldOperations;
}

/** The client codec of 0.3 over JSON-RPC. */
export const clientV0_3JsonRpc = oldClientCodec({
  version: '0.3',
  dialect: KINDS,
  operations: operations0_3(KINDS, '0.3.0'),
});

/** The client codec of 0.3 over HTTP+JSON. */
export const clientV0_3HttpJson = oldClientCodec({
  version: '0.3',
  dialect: PROTO_JSON,
  operations: operations0_3(PROTO_JSON, '0.3.0'),
});

/** The client codec of a version before 1.0: responses are converted to those of 1.0, and checked as such. */
export function oldClientCodec({ version, dialect, operations }: OldClientVersion): ClientCodec {
  const readEvent = objectReader(streamResponseReader(dialect));
  return {
    version,
    methodOf: (operation) => (dialect.kinds ? operations[operation]?.methods[0] : undefined),
    routesOf: (operation) => {
      const row = operations[operation];
      return (dialect.kinds ? row?.routesBesideMethods : row?.routes) ?? [];
    },
    encodeRequest: <Name extends OperationName>(operation: Name, request: OperationTypes[Name]['request']) =>
      operationOf(operations, operation).encodeRequest(request as never),
    decodeResponse: <Name extends UnaryOperationName>(operation: Name, value: unknown) => {
      const row = operationOf(operations, operation) as OldOperation<UnaryOperationName>;
      return clientV1_0.decodeResponse(operation, row.read(value));
    },
    decodeEvent: (value) => clientV1_0.decodeEvent(readEvent(value)),
  };
}
