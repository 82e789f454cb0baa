import type { SendPost } from '../net/posts.js';
import type { Clock } from '../runtime/clock.js';
import type { EqualTimers } from '../runtime/equal-timers.js';
import type { DeliveryClaim } from '../store/push-storage.js';
import type { TaskStorage } from '../store/task-storage.js';
import { attemptTrace } from '../task/attempt-trace.js';
import type { LogRecord } from '../task/log-record.js';
import type { Logger } from '../telemetry/logger.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { AttemptResult } from './delivery-policy.js';
import { notificationHeaders, notificationIds } from './notification-headers.js';
import type { Notification } from './notifications.js';
import { headersFor, type OperatorHeaders } from './operator-headers.js';
import type { QueueHold } from './queue-hold.js';
import { callWebhook } from './webhook-call.js';

/** Makes the signature of a notification. */
export type NotificationSigner = (notification: {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** ms since the epoch. */
  readonly now: number;
}) => Promise<string>;

/** Ports of the calls of one webhook. */
interface NotificationCallsOptions {
  /** Sends to the webhooks that the operator allows. */
  readonly send: SendPost;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Makes a span for each attempt. Absent: none. */
  readonly tracing?: Tracing | undefined;
  readonly storage: Pick<TaskStorage, 'task'>;
  /** Timers of the longest time of a call. */
  readonly timeouts: EqualTimers;
  readonly headers?: OperatorHeaders | undefined;
  readonly sign?: NotificationSigner | undefined;
  readonly mediaType: string;
  /** Aborts a call under way. */
  readonly hold: QueueHold;
}

const NO_HEADERS = {};

/** Calls the webhook of a claimed queue, with the headers and the signature of each notification. */
export class NotificationCalls {
  /** True if the webhook has answered the last call. */
  isAnswered = false;
  /** For the next attempt: the `traceparent` of the event, if it has one, and that of the last call. */
  trace: string | undefined;
  readonly #claim: DeliveryClaim;
  readonly #options: NotificationCallsOptions;
  readonly #idOf: (seq: number) => string;

  constructor(claim: DeliveryClaim, options: NotificationCallsOptions) {
    this.#claim = claim;
    this.#options = options;
    this.#idOf = notificationIds(claim);
  }

  readonly send = (notification: Notification): Promise<AttemptResult> => {
    const { tracing } = this.#options;
    return tracing?.isOn === true ? this.#callTraced(notification, tracing) : this.#post(notification);
  };

  async #callTraced(notification: Notification, tracing: Tracing): Promise<AttemptResult> {
    const { key, configId, config, attempts, position, records, trace } = this.#claim;
    const { seq } = notification;
    // Only the first record of the claim has an attempt before.
    const isFirst = (records[0]?.seq ?? position + 1) === seq;
    const [before, known] = isFirst ? (trace?.split(' ').reverse() ?? []) : [];
    const cause = known ?? (await this.#causeOf(seq));
    const delivery = {
      ...{ taskId: key.id, configId, seq, url: config.url, cause, before },
      contextId: contextIdOf(records.find((record) => record.seq === seq)),
      attempt: isFirst ? attempts + 1 : 1,
    };
    return tracing.delivery(delivery, (headers) => {
      const { traceparent } = headers;
      this.trace = traceparent && cause ? `${cause} ${traceparent}` : traceparent;
      return this.#post(notification, headers);
    });
  }

  /** The trace of the attempt that published an event. Only the first event of an attempt has it. */
  async #causeOf(seq: number): Promise<string | undefined> {
    const { key, records } = this.#claim;
    const own = records.findLast((record) => record.seq <= seq && attemptTrace(record.metadata) !== undefined);
    const metadata = own?.metadata ?? (await this.#options.storage.task(key.scope, key.id))?.task.metadata;
    return attemptTrace(metadata)?.traceparent;
  }

  async #post({ seq, body }: Notification, trace: Readonly<Record<string, string>> = {}): Promise<AttemptResult> {
    const { clock, send, timeouts, sign, mediaType, hold } = this.#options;
    const { config } = this.#claim;
    this.isAnswered = false;
    const more = this.#operatorHeaders();
    if (more === undefined) return { kind: 'failure', reason: 'headers' };
    const id = this.#idOf(seq);
    const now = clock.now();
    const signature = sign && (await sign({ id, url: config.url, body, now }));
    const headers = { ...notificationHeaders({ config, mediaType, id, now, signature, more }), ...trace };
    const result = await callWebhook({ url: config.url, headers, body }, { send, timeouts, hold });
    this.isAnswered = result.kind === 'answer';
    return result;
  }

  /** `undefined` if the operator's function fails. Its error must not stop other deliveries. */
  #operatorHeaders(): Readonly<Record<string, string>> | undefined {
    const { headers, logger } = this.#options;
    if (headers === undefined) return NO_HEADERS;
    try {
      return headersFor(headers, this.#claim);
    } catch (error) {
      logger.error('the headers of a push notification cannot be made', { ...queueFields(this.#claim), error });
      return undefined;
    }
  }
}

function contextIdOf(record: LogRecord | undefined): string | undefined {
  const { task, statusUpdate, artifactUpdate } = record?.event ?? {};
  return (task ?? statusUpdate ?? artifactUpdate)?.contextId;
}

/** Log fields that identify a queue. */
export function queueFields({ key, configId, config }: DeliveryClaim) {
  return { taskId: key.id, config: configId, host: hostOf(config.url) };
}

/** The host of the url of a webhook. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
