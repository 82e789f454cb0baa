import { type PushListener, pushListener } from '../adapters/node/push-listener.js';
import { type PushReceiverOptions, PushReceiver as Receiver } from '../push/receiver/push-receiver.js';
import { answerWebRequest } from '../push/receiver/web-push-request.js';
import { guardedFetch } from './guarded-fetch.js';
import { systemClock } from './runtime.js';

export type { WebhookSecrets, WebhookSignature } from '../auth/webhook-check.js';
export { OptionsError } from '../errors/options-error.js';
export type { StreamResponse } from '../model/stream-response.js';
export type {
  PushAnswer,
  PushReceiverOptions,
  PushRequest,
  ReceivedNotification,
} from '../push/receiver/push-receiver.js';
export type { SeenNotifications } from '../push/receiver/seen-notifications.js';

/**
 * A webhook for push notifications (Spec §4.3.3, §13.2). It checks credentials, signature, age and size, drops repeats
 * by their id, and acknowledges a notification only after the handler has succeeded.
 * @throws OptionsError for wrong options, and if senders need no secret.
 */
export class PushReceiver extends Receiver {
  /** For `node:http` and frameworks on it, such as Express. Use it before body parsers. */
  readonly listener: PushListener = pushListener(this);
  /** For hosts with `Request` and `Response`. */
  readonly fetch = (request: Request): Promise<Response> => answerWebRequest(this, request);

  constructor(options: PushReceiverOptions) {
    super(options, { clock: systemClock, fetchAllowing: (allow) => guardedFetch({ allow }) });
  }
}
