import type { HeaderReader } from '../../auth/authenticator.js';
import { CHALLENGE_HEADER } from '../../auth/challenge.js';
import type { TokenRuntime } from '../../auth/tokens/token-options.js';
import { WebhookCheck, type WebhookSecrets, webhookSchemas } from '../../auth/webhook-check.js';
import { OptionsError } from '../../errors/options-error.js';
import type { StreamResponse } from '../../model/stream-response.js';
import { LongText } from '../../net/frame-parser.js';
import { isLocalHost, publicHosts } from '../../net/public-hosts.js';
import { checkOptions } from '../../options/check-options.js';
import {
  flag,
  func,
  type OptionSchemas,
  optionObject,
  positive,
  texts,
  withMethod,
} from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import type { Clock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../telemetry/logger.js';
import { NOTIFICATION_ID, NOTIFICATION_TIMESTAMP } from '../notification-headers.js';
import { readNotification, taskIdOf } from './read-notification.js';
import { SeenInMemory, type SeenNotifications } from './seen-notifications.js';

/** A notification that has passed all checks. */
export interface ReceivedNotification {
  /** Equal for all attempts of one event. Undefined if the agent sends no id; then repeats cannot be detected. */
  readonly id: string | undefined;
  readonly taskId: string | undefined;
  /** The event, in the form of 1.0. An agent of 0.3 sends the whole task. */
  readonly event: StreamResponse;
  /** The protocol version of the body. */
  readonly version: '1.0' | '0.3';
}

/** Options of a receiver. */
export interface PushReceiverOptions extends WebhookSecrets {
  /** Handles a notification. The receiver acknowledges it when this resolves. If it rejects, the agent retries. */
  readonly onNotification: (notification: ReceivedNotification) => void | Promise<void>;
  /** Called with each refusal. The reason holds no secret. */
  readonly onRefusal?: (refusal: { readonly status: number; readonly reason: string }) => void;
  /**
   * True accepts notifications of every sender. Default: one of `token`, `authentication` and `signature` is required.
   */
  readonly allowAnonymous?: boolean;
  /**
   * The only hosts by which the webhook is called, each with or without a port. Default: any; those of this machine if
   * every sender is taken, because a page can make its own name point to it (DNS rebinding). 421 for others.
   */
  readonly hosts?: readonly string[];
  /** Tells if the application has a task; 404 for others. Default: all tasks. */
  readonly isExpected?: (taskId: string) => boolean | Promise<boolean>;
  /** Largest difference between `X-A2A-Notification-Timestamp` and now, in ms; 400 beyond. Default 5 minutes. */
  readonly maxAgeMs?: number;
  /** Ids of handled notifications. Default: the last 10,000, in memory. */
  readonly seen?: SeenNotifications;
  /** Largest body; 413 beyond. Default 16 MiB. */
  readonly bytes?: number;
  /** Longest time for the body to arrive, in ms; 408 beyond. Default 10 s. */
  readonly bodyMs?: number;
  /** Gets the failures of `onNotification`. Default: none. */
  readonly logger?: Logger;
}

const positiveOr = Type.Optional(positive);
const schemas: OptionSchemas<PushReceiverOptions> = {
  ...webhookSchemas,
  onNotification: func,
  onRefusal: Type.Optional(func),
  allowAnonymous: Type.Optional(flag),
  hosts: Type.Optional(texts),
  isExpected: Type.Optional(func),
  maxAgeMs: positiveOr,
  seen: Type.Optional(Type.Object({})),
  bytes: positiveOr,
  bodyMs: positiveOr,
  logger: Type.Optional(withMethod('error')),
};
const receiverSchema = optionObject(schemas);

/** A request to a webhook, on any host. */
export interface PushRequest {
  readonly method: string;
  readonly header: HeaderReader;
  readonly body: AsyncIterator<Uint8Array>;
}

/** The answer of a webhook. */
export interface PushAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty, or JSON with the reason of a refusal. */
  readonly body: string;
}

interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const DEFAULTS = { bytes: 16 * 1024 * 1024, bodyMs: 10_000, maxAgeMs: 300_000, remembered: 10_000 };
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const LONGEST_ID = 2048;

/**
 * Receives push notifications (Spec §4.3.3, §13.2): checks credentials, signature, age and size, drops repeats, and
 * answers 2xx only after the handler has succeeded.
 */
export class PushReceiver {
  readonly #options: PushReceiverOptions;
  readonly #check: WebhookCheck;
  readonly #isHost: ((authority: string) => boolean) | undefined;
  readonly #seen: SeenNotifications;
  readonly #clock: Clock;
  /** Notifications in progress, by id. A repeat waits for the first one. */
  readonly #handling = new Map<string, Promise<Refusal | undefined>>();

  /** @throws OptionsError for wrong options, and if senders need no secret. */
  constructor(options: PushReceiverOptions, runtime: TokenRuntime) {
    this.#options = checkOptions({ subject: 'PushReceiver', schema: receiverSchema, options });
    this.#check = new WebhookCheck(options, runtime);
    if (!this.#check.isClosed && options.allowAnonymous !== true)
      throw new OptionsError('PushReceiver', ['needs token, authentication, signature, or allowAnonymous: true']);
    this.#isHost = options.hosts ? publicHosts(options.hosts) : this.#check.isClosed ? undefined : isLocalHost;
    this.#seen = options.seen ?? new SeenInMemory(DEFAULTS.remembered);
    this.#clock = runtime.clock;
  }

  /** Answers a request. Never rejects. */
  async answer(request: PushRequest): Promise<PushAnswer> {
    const { logger = silentLogger } = this.#options;
    let refusal: Refusal | undefined;
    try {
      refusal = await this.#refusal(request);
    } catch (error) {
      if (error instanceof RefusedBody) refusal = { status: error.status, reason: error.message };
      else {
        logger.error('a push notification failed', { error });
        refusal = { status: 503, reason: 'the notification cannot be handled now' };
      }
    }
    if (refusal === undefined) return { status: 204, headers: {}, body: '' };
    const { status, reason, headers } = refusal;
    this.#tell({ status, reason });
    return {
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ error: reason }),
    };
  }

  #tell(refusal: Pick<Refusal, 'status' | 'reason'>): void {
    const { onRefusal, logger = silentLogger } = this.#options;
    try {
      onRefusal?.(refusal);
    } catch (error) {
      logger.error('the listener for refused push notifications failed', { error });
    }
  }

  async #refusal(request: PushRequest): Promise<Refusal | undefined> {
    const { header } = request;
    const early = this.#formFault(request) ?? (await this.#senderFault(header));
    if (early !== undefined) return early;
    const { bytes = DEFAULTS.bytes, bodyMs = DEFAULTS.bodyMs } = this.#options;
    const body = await boundedText(request.body, { bytes, ms: bodyMs, clock: this.#clock });
    const id = header(NOTIFICATION_ID);
    if (id !== undefined && id.length > LONGEST_ID) return { status: 400, reason: `${NOTIFICATION_ID} is too long` };
    const fault = await this.#check.signatureFault(header, { body, id });
    if (fault !== undefined) return { status: 401, reason: fault, headers: this.#challenge };
    const old = this.#ageFault(header(NOTIFICATION_TIMESTAMP));
    if (old !== undefined) return { status: 400, reason: old };
    return id === undefined ? this.#handle(body, id) : this.#handleOnce(body, id);
  }

  /** Faults of requests that have not the form of a notification. */
  #formFault({ method, header }: PushRequest): Refusal | undefined {
    if (method !== 'POST') return { status: 405, reason: 'notifications come by POST', headers: { allow: 'POST' } };
    if (this.#isHost?.(header('host') ?? '') === false)
      return { status: 421, reason: 'the webhook has another host than those in hosts' };
    // A page of another origin cannot send JSON without a CORS permission, which a receiver never gives.
    if (!JSON_TYPE.test(header('content-type') ?? '')) return { status: 415, reason: 'notifications are JSON' };
    return undefined;
  }

  async #senderFault(header: HeaderReader): Promise<Refusal | undefined> {
    const reason = await this.#check.refusal(header);
    return reason === undefined ? undefined : { status: 401, reason, headers: this.#challenge };
  }

  get #challenge(): Readonly<Record<string, string>> {
    return { [CHALLENGE_HEADER]: this.#check.challenge };
  }

  #ageFault(timestamp: string | undefined): string | undefined {
    if (timestamp === undefined) return undefined;
    const { maxAgeMs = DEFAULTS.maxAgeMs } = this.#options;
    const age = Math.abs(this.#clock.now() - Number(timestamp) * 1000);
    return age <= maxAgeMs ? undefined : `${NOTIFICATION_TIMESTAMP} is not within ${maxAgeMs / 1000} s of now`;
  }

  /** Acknowledges repeats without the handler. A repeat during the handler shares its outcome. */
  async #handleOnce(body: string, id: string): Promise<Refusal | undefined> {
    const running = this.#handling.get(id);
    if (running !== undefined) return running;
    const handled = (async () => {
      if (await this.#seen.has(id)) return undefined;
      const refusal = await this.#handle(body, id);
      if (refusal === undefined) await this.#seen.add(id);
      return refusal;
    })();
    this.#handling.set(id, handled);
    try {
      return await handled;
    } finally {
      this.#handling.delete(id);
    }
  }

  async #handle(body: string, id: string | undefined): Promise<Refusal | undefined> {
    const { onNotification, isExpected, logger = silentLogger } = this.#options;
    const read = await readNotification(body).catch((error: unknown) => error as Error);
    // The prefix of the specification is for answers of agents, and a notification is not an answer.
    if (read instanceof Error)
      return { status: 400, reason: read.message.replace(/^Invalid agent response type: /, '') };
    const taskId = taskIdOf(read.event);
    if (isExpected !== undefined && !(taskId !== undefined && (await isExpected(taskId))))
      return { status: 404, reason: 'the task is not expected here' };
    try {
      await onNotification({ id, taskId, ...read });
      return undefined;
    } catch (error) {
      logger.error('the handler of a push notification failed', { id, taskId, error });
      return { status: 500, reason: 'the notification was not handled' };
    }
  }
}

/** A body that is refused. `status`: that of the answer. */
class RefusedBody extends Error {
  override readonly name = 'RefusedBody';
  readonly status: 400 | 408 | 413;

  constructor(status: 400 | 408 | 413, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads a body as text in UTF-8.
 * @throws RefusedBody if it is longer than `bytes`, is not complete after `ms`, or breaks off.
 */
async function boundedText(
  chunks: AsyncIterator<Uint8Array>,
  { bytes, ms, clock }: { readonly bytes: number; readonly ms: number; readonly clock: Clock },
): Promise<string> {
  let fail = (_: RefusedBody): void => {};
  const disarm = clock.after(ms, () => fail(new RefusedBody(408, `the body did not arrive within ${ms / 1000} s`)));
  // A single promise for the whole race would keep a reaction for each chunk.
  const nextOf = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      fail = reject;
      chunks.next().catch(brokenOff).then(resolve, reject);
    });
  const decoder = new TextDecoder();
  const text = new LongText();
  try {
    for (let read = 0; ; ) {
      const { done, value } = await nextOf();
      if (done === true) return text.take(decoder.decode());
      read += value.length;
      if (read > bytes) throw new RefusedBody(413, `the body has more than ${bytes} bytes`);
      text.add(decoder.decode(value, { stream: true }));
    }
  } finally {
    disarm();
    chunks.return?.().catch(() => {});
  }
}

function brokenOff(): never {
  throw new RefusedBody(400, 'the body broke off');
}
