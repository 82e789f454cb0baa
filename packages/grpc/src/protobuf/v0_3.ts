import {
  clientV0_3HttpJson,
  type OldOperation,
  type OperationName,
  type OperationTypes,
  operationOf,
  operations0_3,
  PROTO_JSON,
  readResourceRequest,
  type UnaryOperationName,
  v0_3HttpJson,
  writeResourceRequest,
  writeStreamResponse,
} from 'parley-a2a/binding-kit';
import { a2aV1A2a } from './descriptors.generated.js';
import { decodedEvent, withSequence } from './event-sequence.js';
import type { ProtobufClientCodec, ProtobufCodec } from './protobuf-codec.js';
import {
  methodNames,
  methodOf,
  readRequest,
  readResponse,
  serviceOf,
  servicePlan,
  writeRequest,
} from './service-plan.js';
import { writeMessage } from './write-message.js';

const SERVICE = serviceOf(a2aV1A2a);
/** The methods that have another name than their operation. */
const NAMES: { readonly [Name in OperationName]?: string } = {
  subscribeToTask: 'TaskSubscription',
  listTaskPushNotificationConfigs: 'ListTaskPushNotificationConfig',
  getExtendedAgentCard: 'GetAgentCard',
};
const METHODS = servicePlan(
  SERVICE,
  (operation) => NAMES[operation] ?? operation.replace(/^./, (letter) => letter.toUpperCase()),
);
const EVENT = methodOf(METHODS, 'sendStreamingMessage').output;
const OPERATIONS_0_3 = operations0_3(PROTO_JSON, '0.3.0');

/** Version 0.3: `a2a.v1.A2AService`. The ProtoJSON of its messages is that of HTTP+JSON. */
export const protobufV0_3: ProtobufCodec = {
  version: v0_3HttpJson.version,
  service: SERVICE.typeName,
  methods: methodNames(METHODS),
  decode: (operation, bytes, _, items) => {
    const message = readRequest(methodOf(METHODS, operation).input, bytes, items);
    return v0_3HttpJson.decode(operation, readResourceRequest(operation, message));
  },
  encode: <Name extends UnaryOperationName>(operation: Name, response: OperationTypes[Name]['response']) => {
    const row = operationOf(OPERATIONS_0_3, operation) as OldOperation<UnaryOperationName>;
    return writeMessage(methodOf(METHODS, operation).output, row.encode(response as never) as object);
  },
  encodeEvent: (item, withSeq) =>
    writeMessage(EVENT, writeStreamResponse(PROTO_JSON, item), withSequence(item, withSeq)),
  ...(v0_3HttpJson.wordsOf && { wordsOf: v0_3HttpJson.wordsOf }),
};

/** The client codec of version 0.3. */
export const protobufClientV0_3: ProtobufClientCodec = {
  version: clientV0_3HttpJson.version,
  service: SERVICE.typeName,
  methodOf: (operation) => METHODS.get(operation)?.name,
  encodeRequest: <Name extends OperationName>(operation: Name, request: OperationTypes[Name]['request']) => {
    const json = clientV0_3HttpJson.encodeRequest(operation, request);
    const message = writeResourceRequest(operation, { ...pageOf(request), ...json });
    return writeRequest(methodOf(METHODS, operation).input, message, () => v0_3HttpJson.decode(operation, json));
  },
  decodeResponse: (operation, bytes, items) =>
    clientV0_3HttpJson.decodeResponse(operation, readResponse(methodOf(METHODS, operation).output, bytes, items)),
  decodeEvent: (bytes, items) => decodedEvent(clientV0_3HttpJson.decodeEvent(readResponse(EVENT, bytes, items)), bytes),
};

/** The page for a request. HTTP+JSON of that time has no pages. */
function pageOf(request: object): object {
  const { pageSize, pageToken } = request as Readonly<Record<string, unknown>>;
  return { pageSize, pageToken };
}
