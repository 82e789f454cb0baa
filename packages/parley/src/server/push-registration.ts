import type { FieldViolation } from '../errors/a2a-error.js';
import type { TaskPushNotificationConfig } from '../model/push-notification-config.js';

/** The rules by which an agent takes push configurations. An engine without them has no push notifications. */
export interface PushRegistration {
  /** Configurations of one task. */
  readonly maxConfigs: number;
  /** The members of a configuration for which it is refused. Fields are relative to the configuration. */
  violations(config: TaskPushNotificationConfig): readonly FieldViolation[];
}
