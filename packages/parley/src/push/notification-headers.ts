import { webhookCredentials } from '../auth/webhook-credentials.js';
import type { DeliveryKey, StoredPushConfig } from '../store/push-storage.js';

/** Header of the id of a notification. All attempts for one event have the same, so that receivers drop repeats. */
export const NOTIFICATION_ID = 'x-a2a-notification-id';
/** Header of the time of an attempt, in seconds since the epoch. */
export const NOTIFICATION_TIMESTAMP = 'x-a2a-notification-timestamp';
/** Header of the signature of a notification, a JWT. */
const NOTIFICATION_SIGNATURE = 'x-a2a-notification-signature';

/** The ids of the notifications of a configuration, each by its record: task, configuration, sequence number. */
export function notificationIds({ key, configId }: DeliveryKey): (seq: number) => string {
  const queue = [key.id, configId].map(encodeURIComponent).join('/');
  return (seq) => `${queue}/${seq}`;
}

/** The headers of one attempt. */
interface NotificationHead {
  readonly config: StoredPushConfig;
  readonly mediaType: string;
  readonly id: string;
  /** ms since the epoch. */
  readonly now: number;
  readonly signature?: string | undefined;
  /** Headers of the operator. */
  readonly more?: Readonly<Record<string, string>> | undefined;
}

/** Writes the headers of one attempt. */
export function notificationHeaders({
  config,
  mediaType,
  id,
  now,
  signature,
  more,
}: NotificationHead): Record<string, string> {
  return {
    ...more,
    'content-type': mediaType,
    [NOTIFICATION_ID]: id,
    [NOTIFICATION_TIMESTAMP]: String(Math.floor(now / 1_000)),
    ...(signature !== undefined && { [NOTIFICATION_SIGNATURE]: signature }),
    ...webhookCredentials(config),
  };
}
