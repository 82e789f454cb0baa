import { isObject } from '../../model/json.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../../operations/operations.js';
import type { ClientCodec } from '../client-codec.js';
import { clientV1_0 } from '../v1_0/client-codec.js';
import type { WireRoute } from '../wire-codec.js';
import { readAgentCard } from './agent-card.js';
import { type Dialect, KINDS, PROTO_JSON } from './dialect.js';
import { listReader, objectReader } from './members.js';
import { METHODS } from './methods.js';
import { readTaskPushNotificationConfig } from './push-notification-config.js';
import { writeRequest } from './requests.js';
import { EXTENDED_CARD_0_2, ROUTES } from './routes.js';
import { streamResponseReader } from './stream-response.js';
import { taskReader } from './task.js';

/** What a version before 1.0 is made of. */
export interface OldClientVersion {
  readonly version: string;
  readonly dialect: Dialect;
  readonly methods: ReadonlyMap<string, OperationName>;
  readonly routes: readonly WireRoute[];
}

/** The client's half of 0.3 over JSON-RPC, with the route of those who have the extended card where 0.2.5 had it. */
export const clientV0_3JsonRpc = oldClientCodec({
  version: '0.3',
  dialect: KINDS,
  methods: METHODS,
  routes: [EXTENDED_CARD_0_2],
});

/** The client's half of 0.3 over HTTP+JSON. */
export const clientV0_3HttpJson = oldClientCodec({
  version: '0.3',
  dialect: PROTO_JSON,
  methods: new Map(),
  routes: ROUTES,
});

/** The client's half of a version before 1.0: answers are turned into those of 1.0, which then are looked over like any. */
export function oldClientCodec({ version, dialect, methods, routes }: OldClientVersion): ClientCodec {
  const methodOf: { [Name in OperationName]?: string } = {};
  for (const [method, operation] of methods) methodOf[operation] ??= method;
  const readEvent = objectReader(streamResponseReader(dialect));
  const readTask = objectReader(taskReader(dialect));
  const readConfig = objectReader(readTaskPushNotificationConfig);
  const readConfigs = listReader(readTaskPushNotificationConfig);
  return {
    version,
    methodOf,
    routes,
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
