import {
  clientV1_0,
  OPERATIONS_1_0,
  type OperationName,
  type OperationTypes,
  type UnaryOperationName,
  v1_0,
} from 'parley-a2a/binding-kit';
import { lfA2aV1A2a } from './descriptors.generated.js';
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

const SERVICE = serviceOf(lfA2aV1A2a);
const METHODS = servicePlan(SERVICE, (operation) => OPERATIONS_1_0[operation].methods[0]);
const EVENT = methodOf(METHODS, 'sendStreamingMessage').output;

/** Version 1.0: `lf.a2a.v1.A2AService`. The ProtoJSON of its messages is the model. */
export const protobufV1_0: ProtobufCodec = {
  version: v1_0.version,
  service: SERVICE.typeName,
  methods: methodNames(METHODS),
  decode: (operation, bytes, _, items) =>
    v1_0.decode(operation, readRequest(methodOf(METHODS, operation).input, bytes, items)),
  encode: (operation, response) => writeMessage(methodOf(METHODS, operation).output, response ?? {}),
  encodeEvent: (item, withSeq) => writeMessage(EVENT, item.event, withSequence(item, withSeq)),
};

/** The client codec of version 1.0. */
export const protobufClientV1_0: ProtobufClientCodec = {
  version: v1_0.version,
  service: SERVICE.typeName,
  methodOf: (operation) => METHODS.get(operation)?.name,
  encodeRequest: <Name extends OperationName>(operation: Name, request: OperationTypes[Name]['request']) =>
    writeRequest(methodOf(METHODS, operation).input, request, () => v1_0.decode(operation, request)),
  decodeResponse: <Name extends UnaryOperationName>(operation: Name, bytes: Uint8Array, items?: number) =>
    clientV1_0.decodeResponse(operation, readResponse(methodOf(METHODS, operation).output, bytes, items)),
  decodeEvent: (bytes, items) => decodedEvent(clientV1_0.decodeEvent(readResponse(EVENT, bytes, items)), bytes),
};
