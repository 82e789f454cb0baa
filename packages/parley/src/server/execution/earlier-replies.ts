import { isObject } from '../../model/json.js';
import { sha256Hex } from '../../runtime/sha256.js';
import type { LogRecord } from '../../task/log-record.js';
import type { AuthorizationReply, AuthorizationRequest } from '../authorization.js';

/** A reply, and its question. */
export interface KeptReply {
  readonly reply: AuthorizationReply;
  /** `textHash` of the request. Absent in replies of older versions, which match any request. */
  readonly asks: string | undefined;
}

/** The sources of `EarlierReplies`. */
interface EarlierRepliesOptions {
  /** The reply that started the turn. */
  readonly started: () => Promise<KeptReply | undefined>;
  /** The records of earlier attempts. */
  readonly records: () => Promise<readonly LogRecord[]>;
  /** Returns the reply to a question, by its id. */
  readonly answer: (questionId: string) => Promise<KeptReply | undefined>;
}

/** Maximum number of questions of earlier attempts. Further ones are asked again. */
const MOST_QUESTIONS = 20;

/** The replies to earlier attempts of a turn. Each answers one request of this attempt. */
export class EarlierReplies {
  readonly #options: EarlierRepliesOptions;
  #kept: Promise<KeptReply[]> | undefined;

  constructor(options: EarlierRepliesOptions) {
    this.#options = options;
  }

  /** Returns the reply to the same request of an earlier attempt; undefined if the caller must be asked. */
  async take(request: AuthorizationRequest): Promise<AuthorizationReply | undefined> {
    const asks = await textHash(request);
    this.#kept ??= this.#load();
    const kept = await this.#kept;
    const index = kept.findIndex((one) => one.asks === undefined || one.asks === asks);
    return index < 0 ? undefined : kept.splice(index, 1)[0]?.reply;
  }

  /** Only the newest reply to each question: codes in older ones are used. */
  async #load(): Promise<KeptReply[]> {
    const { started, records, answer } = this.#options;
    const kept = new Map<string | undefined, KeptReply>();
    const keep = (one: KeptReply | undefined) => {
      if (one !== undefined && !kept.has(one.asks)) kept.set(one.asks, one);
    };
    const questions = (await records()).flatMap(({ event }) => {
      const { state, message } = event.statusUpdate !== undefined ? event.statusUpdate.status : {};
      return state === 'TASK_STATE_AUTH_REQUIRED' && message !== undefined ? [message.messageId] : [];
    });
    for (const questionId of new Set(questions.toReversed().slice(0, MOST_QUESTIONS))) keep(await answer(questionId));
    keep(await started());
    return [...kept.values()];
  }
}

/** Returns a hash that identifies the question. Excludes links and times, which differ each time. */
export async function textHash({ message }: AuthorizationRequest): Promise<string> {
  return await sha256Hex(message);
}

/** Serializes a reply with its question. The text is a secret. */
export function keptText({ reply, asks }: KeptReply): string {
  return JSON.stringify({ ...reply, asks });
}

/** Parses a text of `keptText`, or of a version that stored no question. */
export function keptReply(text: string): KeptReply {
  const value: unknown = JSON.parse(text);
  const { asks, ...reply } = isObject(value) ? value : {};
  return { reply: reply as unknown as AuthorizationReply, asks: typeof asks === 'string' ? asks : undefined };
}
