import type { FieldViolation } from '../errors/a2a-error.js';
import type { TaskPushNotificationConfig } from '../model/push-notification-config.js';

/** The rules of an agent for push configurations. An engine without them has no push notifications. */
export interface PushRegistration {
  /** Maximum number of configurations of one task. */
  readonly maxConfigs: number;
  /** Returns the invalid members of a configuration. Field paths are relative to the configuration. */
  violations(config: TaskPushNotificationConfig): readonly FieldViolation[];
}
