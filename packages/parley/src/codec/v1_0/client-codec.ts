import type { OperationTypes, UnaryOperationName } from '../../operations/operations.js';
import type { ClientCodec } from '../client-codec.js';
import { OPERATIONS_1_0 } from './operations.js';
import { RESPONSE_READERS, readEvent } from './read-responses.js';

/** Version 1.0. Its JSON is the model, so that requests are sent as they are and responses are only checked. */
export const clientV1_0: ClientCodec = {
  version: '1.0',
  methodOf: (operation) => OPERATIONS_1_0[operation].methods[0],
  routesOf: (operation) => OPERATIONS_1_0[operation].routes,
  encodeRequest: (_, request) => request as Readonly<Record<string, unknown>>,
  decodeResponse: <Name extends UnaryOperationName>(operation: Name, value: unknown) => {
    const { response } = OPERATIONS_1_0[operation];
    return (response && RESPONSE_READERS[response](value)) as OperationTypes[Name]['response'];
  },
  decodeEvent: readEvent,
};
