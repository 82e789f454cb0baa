import { InvalidParamsError } from '../errors/standard-errors.js';
import { contentHash } from '../model/content-hash.js';
import type { JsonValue } from '../model/json.js';
import type { Message } from '../model/message.js';
import type { Part } from '../model/part.js';
import type { IdempotencyKey, Remembered } from '../store/idempotency-keys.js';
import type { Scope } from '../store/task-key.js';

/** Options of idempotent sends. */
export interface IdempotencyOptions {
  /** Time for which the server remembers the outcome of a message, in ms. Default: 10 minutes. */
  readonly windowMs?: number;
  /** True for anonymous callers too. Then a caller who guesses a message id sees its outcome. Default: false. */
  readonly anonymous?: boolean;
}

const DEFAULT_WINDOW_MS = 600_000;

/** Decides which messages have an idempotency key, and which message repeats another one (Spec §3.3.1). */
export class Idempotency {
  readonly #windowMs: number;
  readonly #anonymous: boolean;

  constructor(options: IdempotencyOptions) {
    this.#windowMs = options.windowMs ?? DEFAULT_WINDOW_MS;
    this.#anonymous = options.anonymous ?? false;
  }

  /** Returns the key of a message within its scope; `undefined` if the outcome is not stored. */
  keyOf(scope: Scope, message: Message): IdempotencyKey | undefined {
    if (scope.owner === null && !this.#anonymous) return undefined;
    return {
      key: keyText(message),
      digest: contentHash(withoutEmpty(message) as unknown as JsonValue),
      ttlMs: this.#windowMs,
    };
  }

  /** @throws InvalidParamsError if the same message id is sent with other content. */
  check(first: Pick<Remembered, 'digest'>, key: IdempotencyKey | undefined): void {
    if (first.digest === key?.digest) return;
    throw new InvalidParamsError([
      { field: 'message.messageId', description: 'was used before for a message with other content' },
    ]);
  }
}

/**
 * Returns the message without empty members, which differ between bindings: protobuf has no empty lists. Most messages
 * have none, and are returned unchanged.
 */
function withoutEmpty(message: Message): Message {
  const own = fillEmpty(message);
  return own.parts.some((part) => fillEmpty(part) !== part) ? { ...own, parts: own.parts.map(fillEmpty) } : own;
}

/** The members of a message or a part that may be empty. */
const EMPTY_ABLE = ['metadata', 'extensions', 'referenceTaskIds', 'filename', 'mediaType'] as const;
type EmptyAble = { readonly [name in (typeof EMPTY_ABLE)[number]]?: unknown };

function fillEmpty<Value extends Message | Part>(value: Value): Value {
  let kept: Record<string, unknown> | undefined;
  for (const name of EMPTY_ABLE) {
    const member = (value as EmptyAble)[name];
    if (member !== '' && (!isContainer(member) || Object.keys(member).length > 0)) continue;
    kept ??= { ...value };
    delete kept[name];
  }
  return (kept as Value | undefined) ?? value;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns a separate key for each place and id. All keys but plain ids begin with a blank, including those of
 * authorizations. Most keys are the id alone, which needs no new string.
 */
function keyText({ taskId, contextId, messageId }: Message): string {
  if (taskId) return placeText('t', taskId, messageId);
  if (contextId) return placeText('c', contextId, messageId);
  return messageId.startsWith(' ') ? ` =${messageId}` : messageId;
}

/** The length marks the end of the id, because the message id may begin with anything. */
function placeText(kind: 't' | 'c', id: string, messageId: string): string {
  return ` ${kind}${id.length}:${id} ${messageId}`;
}
