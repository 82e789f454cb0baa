import { isObject } from '../../model/json.js';
import type { TaskPushNotificationConfig } from '../../model/push-notification-config.js';
import type { Dialect } from './dialect.js';
import { type Members, membersReader, objectReader, readNonEmpty } from './members-reader.js';

/** The id of a configuration that has none in the request, as agents of that time set it. */
export const DEFAULT_CONFIG_ID = 'default';

/** Writes a webhook together with its task, which ProtoJSON puts into a resource name. */
export function writeTaskPushNotificationConfig({ kinds }: Dialect, config: TaskPushNotificationConfig): object {
  const { taskId = '', id = DEFAULT_CONFIG_ID } = config;
  const pushNotificationConfig = writePushNotificationConfig(config);
  return kinds
    ? { taskId, pushNotificationConfig }
    : { name: `tasks/${taskId}/pushNotificationConfigs/${id}`, pushNotificationConfig };
}

/** A webhook by itself. */
export function writePushNotificationConfig({ id, url, token, authentication }: TaskPushNotificationConfig): object {
  const how = authentication && { schemes: [authentication.scheme], credentials: authentication.credentials };
  return { id, url, token, authentication: how };
}

const readAuthentication = membersReader([
  ['scheme', ['schemes'], (schemes) => (Array.isArray(schemes) ? schemes[0] : schemes)],
  ['credentials', undefined, readNonEmpty],
]);

/** Reads a webhook by itself. Of several ways to authenticate it takes the first. */
export function webhookReader({ kinds }: Dialect): (value: Members) => Record<string, unknown> {
  const read = kinds ? readAuthentication : readAnyAuthentication;
  return membersReader([
    ['id', undefined, readNonEmpty],
    ['url'],
    ['token', undefined, readNonEmpty],
    ['authentication', undefined, objectReader(read)],
  ]);
}

/** Protobuf clients write an empty object if there is no authentication. */
function readAnyAuthentication(value: Members): object | undefined {
  const read = readAuthentication(value);
  return Object.keys(read).length === 0 ? undefined : read;
}

const readAround = membersReader([
  ['config'],
  ['configId', undefined, readNonEmpty],
  ['name'],
  ['parent'],
  ['pushNotificationConfig'],
  ['taskId'],
]);

/**
 * Reads a webhook with its task in every form in use: the configuration with its task, or the webhook by itself. Either
 * may stand in `config`, with its id beside it.
 */
export function taskWebhookReader(dialect: Dialect): (value: Members) => object {
  const readWebhook = webhookReader(dialect);
  return (value) => readTaskWebhook(value, readWebhook);
}

function readTaskWebhook(value: Members, readWebhook: (webhook: Members) => Record<string, unknown>): object {
  const { config, configId, name, parent, taskId, ...direct } = readAround(value);
  const inner = isObject(config) ? config : value;
  const { pushNotificationConfig = direct.pushNotificationConfig ?? inner } = readAround(inner);
  const [, namedTask, , namedConfig] = resourceName(name ?? parent);
  const webhook = isObject(pushNotificationConfig) ? readWebhook(pushNotificationConfig) : {};
  const task = taskId ?? namedTask;
  return {
    ...webhook,
    ...(task !== undefined && { taskId: task }),
    id: webhook.id ?? configId ?? namedConfig ?? DEFAULT_CONFIG_ID,
  };
}

/** `tasks/{task}/pushNotificationConfigs/{config}`, or its first half. */
function resourceName(name: unknown): readonly (string | undefined)[] {
  return typeof name === 'string' ? name.split('/') : [];
}
