import type { TaskPushNotificationConfig } from '../../model/push-notification-config.js';
import type { Dialect } from './dialect.js';
import { converted, isObject, type Members, member, present } from './members.js';

/** The id of a configuration that is registered or asked for without one, as agents of that time do it. */
export const DEFAULT_CONFIG_ID = 'default';

/** A webhook together with its task, which ProtoJSON has in a resource name. */
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

/**
 * In every form that is in use: the configuration with its task, the webhook by itself, or either of them inside of `config` with
 * its id beside it.
 */
export function readTaskPushNotificationConfig(value: Members): object {
  const config = member(value, 'config');
  const inner = isObject(config) ? config : value;
  const webhook = member(inner, 'pushNotificationConfig') ?? inner;
  const [, namedTask, , namedConfig] = resourceName(member(value, 'name') ?? member(value, 'parent'));
  const { id, ...rest } = readPushNotificationConfig(isObject(webhook) ? webhook : {});
  return present({
    taskId: member(value, 'taskId') ?? namedTask,
    id: id ?? member(value, 'configId') ?? namedConfig ?? DEFAULT_CONFIG_ID,
    ...rest,
  });
}

/** `tasks/{task}/pushNotificationConfigs/{config}`, or its first half. */
function resourceName(name: unknown): readonly (string | undefined)[] {
  return typeof name === 'string' ? name.split('/') : [];
}

/** A webhook by itself. Of several ways to authenticate the first is taken. */
export function readPushNotificationConfig(webhook: Members): { readonly id?: unknown } {
  return present({
    id: nonEmpty(member(webhook, 'id')),
    url: member(webhook, 'url'),
    token: member(webhook, 'token'),
    authentication: converted(member(webhook, 'authentication'), (authentication) => {
      const schemes = member(authentication, 'schemes');
      return present({
        scheme: Array.isArray(schemes) ? schemes[0] : schemes,
        credentials: member(authentication, 'credentials'),
      });
    }),
  });
}

function nonEmpty(value: unknown): unknown {
  return value === '' ? undefined : value;
}
