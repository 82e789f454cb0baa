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

/** A request for authorization as the storage keeps it, under the hash of its state. */
export interface Asked {
  readonly scope: Scope;
  readonly taskId: string;
  /** The message that the agent was working on. Its turn runs again if the process of the agent has ended. */
  readonly messageId: string;
  /** The id of the question: once the task shows another one, the state is worth nothing. */
  readonly questionId: string;
  readonly caller: CallerContext;
  /** The public key of the process in which the agent waits. */
  readonly publicKey: string;
  /** `textHash` of the request. Absent in questions of older versions, as the next two. */
  readonly asks?: string;
  /** The turn that has begun the message, and its attempts so far. */
  readonly turn?: number;
  readonly attempt?: number;
}

/** A reply that came with a state. */
export interface Received {
  readonly asked: Asked;
  readonly reply: AuthorizationReply;
}

/**
 * The questions for authorizations in the storage, as idempotency keys. Each question lies under the hash of its state.
 * The first answer uses it up.
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
    // The owner first: no state leads to a question that is not there.
    await patience.ask(() => keys.remember(scope, { ...kept, key: askedKey(hash) }, recordOf(hash, asked)));
    const place = recordOf(hash, { tenant, owner });
    await patience.ask(() => keys.remember(this.#scope, { ...kept, key: ownerKey(hash) }, place));
  }

  async find(hash: string): Promise<Asked | undefined> {
    const { agent, storage } = this.#context;
    const place = recorded<Pick<Scope, 'tenant' | 'owner'>>(await storage.keys.recall(this.#scope, ownerKey(hash)));
    if (place === undefined) return undefined;
    const scope = { agent, tenant: place.tenant, owner: place.owner };
    const asked = recorded<Omit<Asked, 'scope'>>(await storage.keys.recall(scope, askedKey(hash)));
    return asked && { ...asked, scope };
  }

  /** The task of a question; `undefined` if it waits for the answer no more. */
  async task({ scope, taskId, questionId }: Asked): Promise<StoredTask | undefined> {
    const stored = await this.#context.storage.task(scope, taskId);
    const { state, message } = stored?.task.status ?? {};
    return state === 'TASK_STATE_AUTH_REQUIRED' && message?.messageId === questionId ? stored : undefined;
  }

  /** Marks a question as answered. False if it was answered before. */
  async use(asked: Asked, text: string): Promise<boolean> {
    const { storage, limits, ids } = this.#context;
    const mark = { messageId: ids.random(), role: 'ROLE_AGENT' as const, parts: [{ text }] };
    const key = { key: usedKey(asked), digest: '', ttlMs: limits.waitingExpiryMs, isLasting: true } as const;
    const { outcome } = await storage.keys.remember(asked.scope, key, mark);
    return 'reply' in outcome && outcome.reply.messageId === mark.messageId;
  }

  /**
   * The answer to a question; undefined if there is none yet. `sealed` is the reply that a process has left, or "" if
   * the agent got it directly. It is undefined if a turn was started for the reply.
   */
  async answer(scope: Scope, questionId: string): Promise<{ readonly sealed: string | undefined } | undefined> {
    const known = await this.#context.storage.keys.recall(scope, usedKey({ questionId }));
    return known && { sealed: sealedIn(known) };
  }

  /** The reply as every process with the keys can read it; undefined without keys. */
  async seal({ asked, reply }: Received): Promise<string | undefined> {
    const place = secretPlace({ scope: asked.scope, id: asked.taskId });
    return this.#context.secrets?.seal(keptText({ reply, asks: asked.asks }), place);
  }

  /** Notes that a message of the caller takes the place of a turn that waits. */
  async yield(key: TaskKey, turn: number): Promise<void> {
    const { storage, limits } = this.#context;
    const record = { messageId: String(turn), role: 'ROLE_AGENT' as const, parts: [{ text: '' }] };
    await storage.keys.remember(
      key.scope,
      { key: yieldKey(key, turn), digest: '', ttlMs: limits.waitingExpiryMs, isLasting: true },
      record,
    );
  }

  /** True if a message of the caller takes the place of a turn. */
  async isYielded(key: TaskKey, turn: number): Promise<boolean> {
    return (await this.#context.storage.keys.recall(key.scope, yieldKey(key, turn))) !== undefined;
  }

  /**
   * A request with a state names no owner, so what leads to the owner lies in one scope of the agent. It is small. All
   * else counts for the owner, who so pushes out own links only.
   */
  get #scope(): Scope {
    return { agent: this.#context.agent, tenant: '', owner: null };
  }
}

/** No key of a message begins so (`Idempotency.keyOf`). */
function askedKey(hash: string): string {
  return ` authorization ${hash}`;
}

function ownerKey(hash: string): string {
  return ` authorization of ${hash}`;
}

function recordOf(hash: string, data: JsonObject): Message {
  return { messageId: hash, role: 'ROLE_AGENT', parts: [{ data }] };
}

function recorded<Data>(known: Remembered | undefined): Data | undefined {
  if (known === undefined || !('reply' in known.outcome)) return undefined;
  const [part] = known.outcome.reply.parts;
  return part !== undefined && part.data !== undefined && isObject(part.data) ? (part.data as Data) : undefined;
}

/** The key of the answer to a question. */
export function usedKey({ questionId }: Pick<Asked, 'questionId'>): string {
  return ` authorization used ${questionId}`;
}

function yieldKey({ id }: TaskKey, turn: number): string {
  return ` authorization yields ${turn} ${id}`;
}

/** The reply that a process has left, or "" if the agent got it directly; `undefined` if a turn was started for it. */
function sealedIn({ outcome }: Remembered): string | undefined {
  if (!('reply' in outcome)) return undefined;
  const [part] = outcome.reply.parts;
  return part !== undefined && part.text !== undefined ? part.text : '';
}

/** A reply opens only for its own task. */
export function secretPlace({ scope: { agent, tenant, owner }, id }: TaskKey): readonly (string | null)[] {
  return ['reply to an agent', agent, tenant, owner, id];
}
