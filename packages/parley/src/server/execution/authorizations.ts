import { isObject, type JsonValue } from '../../model/json.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import { ignoreRejection } from '../../runtime/settled.js';
import { sha256Hex } from '../../runtime/sha256.js';
import {
  type CallerContext,
  type Claim,
  isSameTask,
  type Scope,
  type TaskKey,
  taskKeyText,
} from '../../store/task-storage.js';
import {
  type Authorization,
  AuthorizationError,
  type AuthorizationReply,
  type AuthorizationRequest,
} from '../authorization.js';
import type { EngineContext } from './engine-context.js';
import type { RunningTurns } from './running-turns.js';

/** A turn whose agent asks for an authorization. */
export interface AskingTurn {
  readonly key: TaskKey;
  readonly message: Message;
  readonly caller: CallerContext;
  /** Publishes AUTH_REQUIRED with this question, or WORKING without one. */
  publish(question: Question | undefined): Promise<void>;
}

/** The message of AUTH_REQUIRED. */
export interface Question {
  readonly messageId: string;
  readonly parts: readonly Part[];
}

/** A request for authorization as the storage keeps it, under the hash of its state. */
interface Asked {
  readonly scope: Scope;
  readonly taskId: string;
  /** The message that the agent was working on. Its turn runs again if the process of the agent has ended. */
  readonly messageId: string;
  /** The id of the question: once the task shows another one, the state is worth nothing. */
  readonly questionId: string;
  readonly caller: CallerContext;
}

interface Waiting {
  readonly key: TaskKey;
  readonly hash: string;
  readonly answer: PromiseWithResolvers<Authorization>;
}

/** A reply is dropped if its turn does not begin within this time. Its agent then asks again. */
const REPLY_MS = 600_000;

/**
 * The authorizations that agents wait for. The storage keeps the hash of a state, its task and its caller context. A
 * credential for a turn of its own is encrypted, if there are keys. Otherwise it stays in memory: if that turn is lost
 * before the agent has used it, the agent asks again.
 */
export class Authorizations {
  readonly #context: EngineContext;
  readonly #turns: RunningTurns;
  readonly #waiting = new Map<string, Waiting>();
  /** Replies for turns that are yet to begin. */
  readonly #replies = new Map<string, AuthorizationReply>();

  constructor(context: EngineContext, turns: RunningTurns) {
    this.#context = context;
    this.#turns = turns;
  }

  /**
   * Asks the caller, and waits for the answer. Rejects with the reason of the signal when the turn is over.
   * @throws AuthorizationError
   */
  async ask(turn: AskingTurn, request: AuthorizationRequest, signal: AbortSignal): Promise<Authorization> {
    const { clock, ids, limits, callbackUrl } = this.#context;
    const state = `${ids.random()}${ids.random()}`.replaceAll('-', '');
    const hash = await sha256Hex(state);
    const expiresInMs = request.expiresInMs ?? limits.authorizationMs;
    const expiresAt = clock.now() + expiresInMs;
    const { url } = request;
    const link = typeof url === 'function' ? url({ url: callbackUrl?.() ?? '', state }) : url;
    const questionId = ids.random();
    await this.#keep(hash, { turn, questionId, ttlMs: expiresInMs });
    signal.throwIfAborted();
    const answer = Promise.withResolvers<Authorization>();
    ignoreRejection(answer.promise);
    this.#waiting.set(hash, { key: turn.key, hash, answer });
    const stopTimer = clock.after(expiresInMs, () => answer.reject(new AuthorizationError('expired')));
    const stop = () => answer.reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      await turn.publish({ messageId: questionId, parts: partsOf(request, link, expiresAt) });
      const authorization = await answer.promise;
      await turn.publish(undefined);
      return authorization;
    } finally {
      stopTimer();
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(hash);
    }
  }

  /** True if the agent of a task waits in this process. */
  isAsked(key: TaskKey): boolean {
    return [...this.#waiting.values()].some((one) => isSameTask(one.key, key));
  }

  /** The reply that a turn was started for: from memory once, or encrypted in the claim of the turn. */
  async replyFor({ scope, task, turn, caller }: Claim): Promise<AuthorizationReply | undefined> {
    const key = { scope, id: task.id };
    const place = placeOf(key, turn);
    const reply = this.#replies.get(place);
    this.#replies.delete(place);
    if (reply !== undefined || caller.sealedReply === undefined) return reply;
    const text = await this.#context.secrets?.open(caller.sealedReply, secretPlace(key));
    return text === undefined ? undefined : (JSON.parse(text) as AuthorizationReply);
  }

  /**
   * Hands a reply to the agent that asked for it. If its turn runs in this process, that goes on. Otherwise a new turn
   * runs the agent on the same message. Resolves to the id of the task; `undefined` if the state is unknown, expired or
   * used.
   */
  async reply(state: string, reply: AuthorizationReply): Promise<string | undefined> {
    const hash = await sha256Hex(state);
    const waiting = this.#waiting.get(hash);
    if (waiting !== undefined) return this.#continue(waiting, reply);
    const asked = await this.#asked(hash);
    return asked && this.#resume(asked, hash, reply);
  }

  async #continue({ key, hash, answer }: Waiting, reply: AuthorizationReply): Promise<string> {
    // From here on a second reply finds nothing that waits, and the mark below refuses it.
    this.#waiting.delete(hash);
    const { storage, limits } = this.#context;
    const mark = { messageId: hash, role: 'ROLE_AGENT' as const, parts: [{ text: '' }] };
    await storage.remember(key.scope, { key: usedKey(hash), digest: hash, ttlMs: limits.waitingExpiryMs }, mark);
    if (reply.kind === 'denied') answer.reject(new AuthorizationError('denied'));
    else answer.resolve({ parameters: reply.parameters });
    return key.id;
  }

  /** Accepts the message again, unless the state was used: both are one commit. */
  async #resume(asked: Asked, hash: string, reply: AuthorizationReply): Promise<string | undefined> {
    const { storage, lease, limits } = this.#context;
    const { scope, taskId, messageId, questionId, caller } = asked;
    const key = { scope, id: taskId };
    const stored = await storage.task(scope, taskId);
    const { state, message: question } = stored?.task.status ?? {};
    if (state !== 'TASK_STATE_AUTH_REQUIRED' || question?.messageId !== questionId) return undefined;
    const message = stored?.task.history?.findLast((one) => one.messageId === messageId && one.role === 'ROLE_USER');
    if (message === undefined) return undefined;
    const sealedReply = await this.#context.secrets?.seal(JSON.stringify(reply), secretPlace(key));
    const arrival = this.#turns.expect(key);
    try {
      const outcome = await storage.accept({
        scope,
        message,
        caller: { ...caller, resumes: true, ...(sealedReply !== undefined && { sealedReply }) },
        task: { id: taskId },
        claim: lease,
        idempotency: { key: usedKey(hash), digest: hash, ttlMs: limits.waitingExpiryMs },
        waitingLimit: limits.waitingMessages,
      });
      if (outcome.kind !== 'accepted') return undefined;
      this.#expectTurn(placeOf(key, outcome.turn), reply);
      if (outcome.claim) this.#turns.start(this.#turns.admit(outcome.claim, arrival.sentAt));
      return taskId;
    } finally {
      arrival.end();
    }
  }

  #expectTurn(place: string, reply: AuthorizationReply): void {
    this.#replies.set(place, reply);
    this.#context.clock.after(REPLY_MS, () => this.#replies.delete(place));
  }

  async #keep(
    hash: string,
    { turn, questionId, ttlMs }: { readonly turn: AskingTurn; readonly questionId: string; readonly ttlMs: number },
  ): Promise<void> {
    const { key, message, caller } = turn;
    const { messageId } = message;
    const { tenant, owner } = key.scope;
    const asked = { tenant, owner, taskId: key.id, messageId, questionId, caller: caller as unknown as JsonValue };
    const record = { messageId: hash, role: 'ROLE_AGENT' as const, parts: [{ data: asked }] };
    await this.#context.storage.remember(this.#scope, { key: askedKey(hash), digest: hash, ttlMs }, record);
  }

  async #asked(hash: string): Promise<Asked | undefined> {
    const known = await this.#context.storage.recall(this.#scope, askedKey(hash));
    if (known === undefined || !('reply' in known.outcome)) return undefined;
    const [part] = known.outcome.reply.parts;
    if (part === undefined || !('data' in part) || !isObject(part.data)) return undefined;
    const { tenant, owner, ...rest } = part.data as unknown as Omit<Asked, 'scope'> & Scope;
    return { ...rest, scope: { agent: this.#context.agent, tenant, owner } };
  }

  /** A request with a state names no owner, so the keys lie in one scope of the agent. */
  get #scope(): Scope {
    return { agent: this.#context.agent, tenant: '', owner: null };
  }
}

/** Keys of messages begin with a bracket. */
function askedKey(hash: string): string {
  return `authorization ${hash}`;
}

function usedKey(hash: string): string {
  return `authorization used ${hash}`;
}

/** A reply opens only for its own task. */
function secretPlace({ scope: { agent, tenant, owner }, id }: TaskKey): readonly (string | null)[] {
  return ['reply to an agent', agent, tenant, owner, id];
}

function placeOf(key: TaskKey, turn: number): string {
  return `${turn} ${taskKeyText(key)}`;
}

function partsOf(request: AuthorizationRequest, url: string | undefined, expiresAt: number): readonly Part[] {
  const { message, scheme, scopes } = request;
  const authorization = {
    ...(url !== undefined && { url }),
    ...(scheme !== undefined && { scheme }),
    ...(scopes !== undefined && { scopes: [...scopes] }),
    expiresAt: new Date(expiresAt).toISOString(),
  };
  return [{ text: message }, { data: { authorization } }];
}
