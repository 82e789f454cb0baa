import { isObject } from '../../model/json.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../../operations/operations.js';
import type { ClientCodec } from '../client-codec.js';
import { clientV1_0 } from '../v1_0/client-codec.js';
import { readAgentCard } from './agent-card.js';
import { type Dialect, KINDS, PROTO_JSON } from './dialect.js';
import { listReader, objectReader } from './members.js';
import { METHODS } from './methods.js';
import { readTaskPushNotificationConfig } from './push-notification-config.js';
import { writeRequest } from './requests.js';
import { ROUTES } from './routes.js';
import { streamResponseReader } from './stream-response.js';
import { taskReader } from './task.js';

const methodOf: { [Name in OperationName]?: string } = {};
for (const [method, operation] of METHODS) methodOf[operation] ??= method;

/** The client's half of 0.3 over JSON-RPC. */
export const clientV0_3JsonRpc = oldClientCodec('0.3', KINDS);

/** The client's half of 0.3 over HTTP+JSON. */
export const clientV0_3HttpJson = oldClientCodec('0.3', PROTO_JSON);

/** The client's half of a version before 1.0: answers are turned into those of 1.0, which then are looked over like any. */
export function oldClientCodec(version: string, dialect: Dialect): ClientCodec {
  const readEvent = objectReader(streamResponseReader(dialect));
  const readTask = objectReader(taskReader(dialect));
  const readConfig = objectReader(readTaskPushNotificationConfig);
  const readConfigs = listReader(readTaskPushNotificationConfig);
  return {
    version,
    methodOf,
    routes: ROUTES,
    encodeRequest: (operation, request) => writeRequest(dialect, operation, request),
    decodeResponse,
    decodeEvent: (value) => clientV1_0.decodeEvent(readEvent(value)),
    decodeCard,
  };

  function decodeResponse<Name extends UnaryOperationName>(
    operation: Name,
    value: unknown,
  ): OperationTypes[Name]['response'] {
    return clientV1_0.decodeResponse(operation, read(operation, value));
  }

  function read(operation: UnaryOperationName, value: unknown): unknown {
    switch (operation) {
      case 'sendMessage':
        return readEvent(value);
      case 'getTask':
      case 'cancelTask':
        return readTask(value);
      case 'listTaskPushNotificationConfigs': {
        const configs = isObject(value) ? value.configs : value;
        return { configs: readConfigs(configs), nextPageToken: isObject(value) ? value.nextPageToken : '' };
      }
      case 'getExtendedAgentCard':
        return objectReader(readAgentCard)(value);
      default:
        return readConfig(value);
    }
  }

  function decodeCard(value: unknown) {
    return clientV1_0.decodeCard(objectReader(readAgentCard)(value));
  }
}
