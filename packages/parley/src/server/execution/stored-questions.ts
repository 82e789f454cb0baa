import { isObject, type JsonObject, type JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { CallerContext } from '../../store/caller-context.js';
import type { Remembered } from '../../store/idempotency-keys.js';
import type { Scope, TaskKey } from '../../store/task-key.js';
import type { StoredTask } from '../../store/task-storage.js';
import type { AuthorizationReply } from '../authorization.js';
import type { AskingTurn } from './authorizations.js';
import { keptText } from './earlier-replies.js';
import type { EngineContext } from './engine-context.js';

/** A stored request for authorization, under the hash of its state. */
export interface Asked {
  readonly scope: Scope;
  readonly taskId: string;
  /** The message of the agent's turn. It runs again if the process of the agent has ended. */
  readonly messageId: string;
  /** The id of the question. The state is invalid once the task has another one. */
  readonly questionId: string;
  readonly caller: CallerContext;
  /** The public key of the process in which the agent waits. */
  readonly publicKey: string;
  /** `textHash` of the request. Absent in questions of older versions, like `turn` and `attempt`. */
  readonly asks?: string;
  /** The first turn of the message, and its number of attempts. */
  readonly turn?: number;
  readonly attempt?: number;
}

/** A reply that arrived with a state. */
export interface Received {
  readonly asked: Asked;
  readonly reply: AuthorizationReply;
}

/**
 * The stored questions for authorizations, as idempotency keys. Each question is stored under the hash of its state,
 * and can be answered once.
 */
export class StoredQuestions {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  async keep(
    hash: string,
    {
      asking,
      ttlMs,
      ...question
    }: Pick<Asked, 'questionId' | 'publicKey' | 'asks'> & { readonly asking: AskingTurn; readonly ttlMs: number },
  ): Promise<void> {
    const { keys } = this.#context.storage;
    const { turn, context } = asking;
    const { scope, taskId, caller } = turn;
    const { messageId } = turn.message;
    const { patience } = context;
    const { resumes } = caller;
    const begunIn = resumes === undefined || resumes === true ? (turn.held?.turn ?? 1) : resumes.turn;
    const asked = {
      taskId,
      messageId,
      ...question,
      turn: begunIn,
      attempt: context.attempt,
      caller: caller as unknown as JsonValue,
    };
    const { tenant, owner } = scope;
    const kept = { digest: hash, ttlMs, isLasting: true } as const;
    // Written under the owner first, so that no state leads to a missing question.
    await patience.ask(() => keys.remember(scope, { ...kept, key: askedKey(hash) }, recordOf(hash, asked)));
    const place = recordOf(hash, { tenant, owner });
    await patience.ask(() => keys.remember(this.#scope, { ...kept, key: ownerKey(hash) }, place));
  }

  async find(hash: string): Promise<Asked | undefined> {
    const { agent, storage } = this.#context;
    const place = readRecord<Pick<Scope, 'tenant' | 'owner'>>(await storage.keys.recall(this.#scope, ownerKey(hash)));
    if (place === undefined) return undefined;
    const scope = { agent, tenant: place.tenant, owner: place.owner };
    const asked = readRecord<Omit<Asked, 'scope'>>(await storage.keys.recall(scope, askedKey(hash)));
    return asked && { ...asked, scope };
  }

  /** Returns the task of a question; `undefined` if it no longer waits for the answer. */
  async task({ scope, taskId, questionId }: Asked): Promise<StoredTask | undefined> {
    const stored = await this.#context.storage.task(scope, taskId);
    const { state, message } = stored?.task.status ?? {};
    return state === 'TASK_STATE_AUTH_REQUIRED' && message?.messageId === questionId ? stored : undefined;
  }

  /** Marks a question as answered. Returns false if it was answered before. */
  async use(asked: Asked, text: string): Promise<boolean> {
    const { storage, limits, ids } = this.#context;
    const mark = { messageId: ids.random(), role: 'ROLE_AGENT' as const, parts: [{ text }] };
    const key = { key: usedKey(asked), digest: '', ttlMs: limits.waitingExpiryMs, isLasting: true } as const;
    const { outcome } = await storage.keys.remember(asked.scope, key, mark);
    return 'reply' in outcome && outcome.reply.messageId === mark.messageId;
  }

  /**
   * Returns the answer to a question; undefined if there is none yet. `sealed`: the stored encrypted reply, or "" if
   * the agent got it directly; undefined if a turn was started for the reply.
   */
  async answer(scope: Scope, questionId: string): Promise<{ readonly sealed: string | undefined } | undefined> {
    const known = await this.#context.storage.keys.recall(scope, usedKey({ questionId }));
    return known && { sealed: sealedIn(known) };
  }

  /** Encrypts the reply for all processes with the keys; undefined without keys. */
  async seal({ asked, reply }: Received): Promise<string | undefined> {
    const place = secretPlace({ scope: asked.scope, id: asked.taskId });
    return this.#context.secrets?.seal(keptText({ reply, asks: asked.asks }), place);
  }

  /** Records that a message of the caller replaces a waiting turn. */
  async yield(key: TaskKey, turn: number): Promise<void> {
    const { storage, limits } = this.#context;
    const record = { messageId: String(turn), role: 'ROLE_AGENT' as const, parts: [{ text: '' }] };
    await storage.keys.remember(
      key.scope,
      { key: yieldKey(key, turn), digest: '', ttlMs: limits.waitingExpiryMs, isLasting: true },
      record,
    );
  }

  /** True if a message of the caller replaces the turn. */
  async isYielded(key: TaskKey, turn: number): Promise<boolean> {
    return (await this.#context.storage.keys.recall(key.scope, yieldKey(key, turn))) !== undefined;
  }

  /**
   * A request with a state names no owner, so the entry that names the owner is in one scope of the agent. It is small.
   * All other data count for the owner, so that they can evict only the owner's own entries.
   */
  get #scope(): Scope {
    return { agent: this.#context.agent, tenant: '', owner: null };
  }
}

/** No key of a message has this prefix (`Idempotency.keyOf`). */
function askedKey(hash: string): string {
  return ` authorization ${hash}`;
}

function ownerKey(hash: string): string {
  return ` authorization of ${hash}`;
}

function recordOf(hash: string, data: JsonObject): Message {
  return { messageId: hash, role: 'ROLE_AGENT', parts: [{ data }] };
}

function readRecord<Data>(known: Remembered | undefined): Data | undefined {
  if (known === undefined || !('reply' in known.outcome)) return undefined;
  const [part] = known.outcome.reply.parts;
  return part !== undefined && part.data !== undefined && isObject(part.data) ? (part.data as Data) : undefined;
}

/** Returns the key of the answer to a question. */
export function usedKey({ questionId }: Pick<Asked, 'questionId'>): string {
  return ` authorization used ${questionId}`;
}

function yieldKey({ id }: TaskKey, turn: number): string {
  return ` authorization yields ${turn} ${id}`;
}

/** Returns the stored encrypted reply, or "" if the agent got it directly; `undefined` if a turn was started for it. */
function sealedIn({ outcome }: Remembered): string | undefined {
  if (!('reply' in outcome)) return undefined;
  const [part] = outcome.reply.parts;
  return part !== undefined && part.text !== undefined ? part.text : '';
}

/** Returns the encryption context of a reply: it can be decrypted only for its own task. */
export function secretPlace({ scope: { agent, tenant, owner }, id }: TaskKey): readonly (string | null)[] {
  return ['reply to an agent', agent, tenant, owner, id];
}
