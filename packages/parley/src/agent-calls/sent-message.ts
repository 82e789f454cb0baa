import type { ClientCallContext } from '../client/call-options.js';
import { contentHash } from '../model/content-hash.js';
import { isObject, type JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { SendMessageRequest } from '../model/send-message-request.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { CallOutcome, InterceptedCall, Interceptor } from '../operations/interceptor.js';
import { isStreaming } from '../operations/operations.js';
import { ENCRYPTION_EXTENSION, SIGNING_EXTENSION } from '../operations/signing-extensions.js';
import { fromBase64Url } from '../runtime/base64-bytes.js';
import type { Clock } from '../runtime/clock.js';
import type { TurnCourse } from '../server/turn-ports.js';
import { ownMetadata } from './own-metadata.js';

/** The ports of an outgoing message. */
interface SentMessageOptions {
  readonly course: Pick<TurnCourse, 'kept' | 'keep' | 'drop'>;
  /** Identifies the call among those of the turn. */
  readonly name: string;
  readonly clock: Pick<Clock, 'now'>;
}

type Call = InterceptedCall<ClientCallContext>;

/**
 * The signed message of a call. Signatures and encryption differ each time, and an idempotent callee compares all bytes
 * of a repeated message. So the turn stores the first message, and later attempts send it again.
 */
export class SentMessage {
  readonly #options: SentMessageOptions;

  constructor(options: SentMessageOptions) {
    this.#options = options;
  }

  /** Sends the message of the first attempt, if it has the same content and its signatures are still valid. */
  readonly interceptor: Interceptor<ClientCallContext> = (call, next) => {
    if (!('message' in call.request)) return next(call);
    if (isStreaming(call.operation)) return this.#events(call, next) as CallOutcome;
    return this.#withStoredMessage(call).then((sent) => next(sent) as Promise<never>) as CallOutcome;
  };

  /** Marks the message as delivered: the callee has named its task, and no attempt sends the message again. */
  done(): void {
    const { course, name } = this.#options;
    course.drop(name);
  }

  async *#events(call: Call, next: (call: Call) => CallOutcome): AsyncGenerator<StreamResponse> {
    yield* next(await this.#withStoredMessage(call)) as AsyncIterable<StreamResponse>;
  }

  async #withStoredMessage(call: Call): Promise<Call> {
    const { course, name, clock } = this.#options;
    const request = call.request as SendMessageRequest;
    const { message } = request;
    if (message.metadata?.[SIGNING_EXTENSION] === undefined) return call;
    const kept = course.kept(name) as unknown as Message | undefined;
    if (kept !== undefined && endOf(kept) > clock.now() && contentOf(kept) === contentOf(message))
      return { ...call, request: { ...request, message: kept } } as Call;
    await course.keep(name, message as unknown as JsonValue);
    return call;
  }
}

/** A hash of the message without its signatures. Encrypted parts count as equal, because they differ each time. */
function contentOf({ metadata, parts, ...rest }: Message): string {
  const open = parts.map((part) => (part.metadata?.[ENCRYPTION_EXTENSION] === undefined ? part : null));
  return contentHash({ ...rest, metadata: ownMetadata(metadata), parts: open } as unknown as JsonValue);
}

/** The time at which the first signature of the message ends, in ms since the epoch. 0 if it cannot be read. */
function endOf({ metadata }: Message): number {
  const own = metadata?.[SIGNING_EXTENSION];
  const list = isObject(own) && Array.isArray(own.signatures) ? (own.signatures as unknown[]) : [];
  const ends = list.map((entry) => (isObject(entry) ? expiryIn(String(entry.protected)) : 0));
  return Math.min(...ends) * 1_000;
}

/** `exp` of the header of a signature (RFC 7515 §7.2.2), in seconds. */
function expiryIn(encoded: string): number {
  try {
    const header: unknown = JSON.parse(new TextDecoder().decode(fromBase64Url(encoded)));
    return isObject(header) && typeof header.exp === 'number' ? header.exp : 0;
  } catch {
    return 0;
  }
}
