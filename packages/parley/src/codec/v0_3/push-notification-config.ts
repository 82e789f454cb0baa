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
export const readPushNotificationConfig = membersReader([
  ['id', undefined, readNonEmpty],
  ['url'],
  ['token', undefined, readNonEmpty],
  ['authentication', undefined, objectReader(readAuthentication)],
]);

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
export function readTaskPushNotificationConfig(value: Members): object {
  const { config, configId, name, parent, taskId, ...direct } = readAround(value);
  const inner = isObject(config) ? config : value;
  const { pushNotificationConfig = direct.pushNotificationConfig ?? inner } = readAround(inner);
  const [, namedTask, , namedConfig] = resourceName(name ?? parent);
  const webhook = isObject(pushNotificationConfig) ? readPushNotificationConfig(pushNotificationConfig) : {};
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
