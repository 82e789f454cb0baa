import { failureLevel } from '../../errors/storage-error.js';
import type { Message } from '../../model/message.js';
import type { Part } from '../../model/part.js';
import { UNENDING_MS } from '../../runtime/clock.js';
import { ignoreRejection } from '../../runtime/settled.js';
import { sha256Hex } from '../../runtime/sha256.js';
import { Recipient, sealFor } from '../../secrets/recipient.js';
import type { Claim, HeldTurn } from '../../store/held-turn.js';
import { type Scope, type TaskKey, taskKeyText } from '../../store/task-key.js';
import {
  type Authorization,
  AuthorizationError,
  type AuthorizationReply,
  type AuthorizationRequest,
} from '../authorization.js';
import { type Question, questionChangeOf } from '../question-change.js';
import { statusEvent } from './agent-event.js';
import { EarlierReplies, type KeptReply, keptReply, keptText, textHash } from './earlier-replies.js';
import type { EngineContext } from './engine-context.js';
import type { RunningTurns } from './running-turns.js';
import { type Received, StoredQuestions, secretPlace, usedKey } from './stored-questions.js';
import type { Turn } from './turn.js';
import type { TurnContext } from './turn-context.js';

/** A turn whose task waits for an authorization. */
interface WaitingTurn {
  readonly scope: Scope;
  readonly taskId: string;
  readonly whenEnded: Promise<void>;
  readonly held: HeldTurn | undefined;
  /** Ends the turn if it still waits. Returns false otherwise. */
  yieldToMessage(): boolean;
}

/** A turn whose agent requests an authorization, and the context of its agent. */
export interface AskingTurn {
  readonly turn: Turn;
  readonly context: TurnContext;
}

/** The latest question of a task in this process. */
interface Waiting {
  readonly questionId: string;
  readonly turn: WaitingTurn;
  /** The waiting agent. Absent for a turn that was taken over. */
  readonly agent: { readonly recipient: Recipient; readonly answer: PromiseWithResolvers<Authorization> } | undefined;
  /** Restarts the agent of a turn that was taken over. */
  readonly runAgain: (() => void) | undefined;
}

/** Time in ms after which a reply is dropped if its turn has not started. Its agent then asks again. */
const REPLY_MS = 600_000;
/** Number of lease durations for which a process monitors a reply that it left for another process. */
const FOLLOWED_LEASES = 3;

/**
 * The authorizations that agents wait for. The storage has the hash of each state, with its task and caller context.
 * A reply may arrive at any process. With keys, the storage has each reply, encrypted for all processes: an agent gets
 * it again after a retry. Without keys the reply stays in memory. If the agent waits in another process, the storage
 * transfers the reply, encrypted for that process only. If that process has ended, the reply starts a new turn. If a
 * reply is lost before the agent has used it, the agent asks again.
 */
export class Authorizations {
  readonly #context: EngineContext;
  readonly #turns: RunningTurns;
  readonly #questions: StoredQuestions;
  /** By task. */
  readonly #waiting = new Map<string, Waiting>();
  /** Replies for agents that will be restarted, by turn or by question. */
  readonly #replies = new Map<string, KeptReply>();
  /** Replies to earlier attempts of a turn. */
  readonly #earlier = new WeakMap<Turn, EarlierReplies>();

  constructor(context: EngineContext, turns: RunningTurns) {
    this.#context = context;
    this.#turns = turns;
    this.#questions = new StoredQuestions(context);
  }

  /**
   * Returns the authorization for an agent. A retry gets the reply of the earlier attempt. Otherwise asks the caller,
   * and waits for the answer. Rejects with the reason of the turn's signal when the turn has ended.
   * @throws AuthorizationError
   */
  async request(asking: AskingTurn, request: AuthorizationRequest): Promise<Authorization> {
    const { turn, context } = asking;
    if (context.claim === undefined || context.attempt === 1) return this.#ask(asking, request);
    const earlier = this.#earlier.get(turn) ?? this.#repliesFor(context.claim, context);
    this.#earlier.set(turn, earlier);
    const reply = await earlier.take(request);
    if (reply?.kind === 'denied') throw new AuthorizationError('denied');
    return reply === undefined ? this.#ask(asking, request) : { parameters: reply.parameters };
  }

  async #ask(asking: AskingTurn, request: AuthorizationRequest): Promise<Authorization> {
    const { turn, context } = asking;
    const { signal } = context;
    const { clock, ids, limits, callbackUrl } = this.#context;
    const state = `${ids.random()}${ids.random()}`.replaceAll('-', '');
    const expiresInMs = Math.min(Math.ceil(request.expiresInMs ?? limits.authorizationMs), UNENDING_MS);
    const expiresAt = clock.now() + expiresInMs;
    const { url } = request;
    const link = typeof url === 'function' ? url({ url: callbackUrl?.() ?? '', state }) : url;
    const questionId = ids.random();
    const recipient = await Recipient.create();
    const { publicKey } = recipient;
    const asks = await textHash(request);
    await this.#questions.keep(await sha256Hex(state), { asking, questionId, publicKey, asks, ttlMs: expiresInMs });
    signal.throwIfAborted();
    const answer = Promise.withResolvers<Authorization>();
    ignoreRejection(answer.promise);
    const forget = this.#await({ questionId, turn, agent: { recipient, answer }, runAgain: undefined });
    const stopTimer = clock.after(expiresInMs, () => answer.reject(new AuthorizationError('expired')));
    const stop = () => answer.reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      const question = { messageId: questionId, parts: partsOf(request, link, expiresAt) };
      const publish = (changed: Question) => this.#publish(turn, changed);
      const change = questionChangeOf(context);
      await (change === undefined ? publish(question) : change(question, publish));
      const authorization = await answer.promise;
      await turn.accept(statusEvent(turn, 'TASK_STATE_WORKING'), true);
      return authorization;
    } finally {
      stopTimer();
      signal.removeEventListener('abort', stop);
      forget();
    }
  }

  async #publish(turn: Turn, question: Question): Promise<void> {
    const { taskId, contextId } = turn;
    const message: Message = { ...question, role: 'ROLE_AGENT', taskId, contextId };
    const published = turn.accept(statusEvent(turn, 'TASK_STATE_AUTH_REQUIRED', message), true);
    if (this.#turns.closing) turn.yieldToShutdown();
    return published;
  }

  /** True if the agent of a task waits in this process. */
  isAsked(key: TaskKey): boolean {
    return this.#waiting.get(taskKeyText(key))?.agent !== undefined;
  }

  /**
   * Monitors a turn that was taken over while its task waits for an answer. `runAgain` is called once the answer has
   * arrived.
   */
  keep(turn: WaitingTurn, questionId: string, runAgain: () => void): void {
    const forget = this.#await({
      questionId,
      turn,
      agent: undefined,
      runAgain: () => {
        forget();
        runAgain();
      },
    });
    void turn.whenEnded.then(forget);
    this.look(keyOf(turn));
  }

  /** Reads replies from the storage, and messages that replace a waiting turn: for one task, or for all. */
  look(key?: TaskKey): void {
    if (this.#waiting.size === 0) return;
    const waiting = key === undefined ? [...this.#waiting.values()] : [this.#waiting.get(taskKeyText(key))];
    const { logger } = this.#context;
    for (const one of waiting) {
      if (one === undefined) continue;
      this.#look(one).catch((error: unknown) => {
        logger[failureLevel(error)]('looking for an authorization failed', { taskId: one.turn.taskId, error });
      });
    }
  }

  /** Notifies the process of a turn that waits for an authorization that a message of the caller replaces the turn. */
  async yieldElsewhere(key: TaskKey, turn: number): Promise<void> {
    await this.#questions.yield(key, turn);
    this.#context.storage.wakeups.taskChanged(key);
  }

  /** Returns the replies for the agent of a retried turn. */
  #repliesFor({ scope, task, turn, caller }: Claim, context: TurnContext): EarlierReplies {
    const key = { scope, id: task.id };
    const taken = (place: string): KeptReply | undefined => {
      const reply = this.#replies.get(place);
      this.#replies.delete(place);
      return reply;
    };
    const opened = async (sealed: string | undefined): Promise<KeptReply | undefined> => {
      if (sealed === undefined || sealed === '' || this.#context.secrets === undefined) return undefined;
      return keptReply(await this.#context.secrets.open(sealed, secretPlace(key)));
    };
    return new EarlierReplies({
      records: () => context.previousEvents(),
      started: async () => taken(placeOf(key, turn)) ?? opened(caller.sealedReply),
      answer: async (questionId) => {
        const known = await context.patience.ask(() => this.#questions.answer(scope, questionId));
        return taken(questionId) ?? opened(known?.sealed);
      },
    });
  }

  /**
   * Delivers a reply to the agent that asked for it. A running turn continues, in this or another process. If the turn
   * was taken over, its agent is restarted. Otherwise a new turn runs the agent on the same message. Resolves to the id
   * of the task; `undefined` if the state is unknown, expired or used.
   */
  async reply(state: string, reply: AuthorizationReply): Promise<string | undefined> {
    const asked = await this.#questions.find(await sha256Hex(state));
    if (asked === undefined) return undefined;
    const received = { asked, reply };
    const key = { scope: asked.scope, id: asked.taskId };
    const waiting = this.#waiting.get(taskKeyText(key));
    if (waiting?.questionId === asked.questionId) return this.#continue(waiting, received);
    const stored = await this.#questions.task(asked);
    if (stored === undefined) return undefined;
    return stored.running ? this.#leave(received) : this.#resume(received, usedKey(asked));
  }

  /** Registers the latest question of a task. Returns the function that removes it. */
  #await(waiting: Waiting): () => void {
    const text = taskKeyText(keyOf(waiting.turn));
    this.#waiting.set(text, waiting);
    return () => {
      if (this.#waiting.get(text) === waiting) this.#waiting.delete(text);
    };
  }

  async #look(waiting: Waiting): Promise<void> {
    const { questionId, turn, agent } = waiting;
    const key = keyOf(turn);
    const known = await this.#questions.answer(key.scope, questionId);
    if (known !== undefined) {
      const { sealed } = known;
      // A turn was started for the reply.
      if (sealed === undefined) return void turn.yieldToMessage();
      // This process has already delivered the reply to the agent.
      if (agent !== undefined && sealed === '') return;
      const { secrets } = this.#context;
      if (agent !== undefined) {
        const text = await (secrets ?? agent.recipient).open(sealed, secretPlace(key));
        return settleAnswer(agent.answer, keptReply(text).reply);
      }
      // Only the process that left the reply can decrypt it. It restarts the agent after this turn has ended here.
      if (sealed !== '' && secrets === undefined) return void turn.yieldToMessage();
      return waiting.runAgain?.();
    }
    if (await this.#questions.isYielded(key, turn.held?.turn ?? 0)) turn.yieldToMessage();
  }

  /** Delivers the reply to the agent that waits in this process, unless an earlier reply was delivered. */
  async #continue(waiting: Waiting, received: Received): Promise<string | undefined> {
    const { asked, reply } = received;
    if (!(await this.#questions.use(asked, (await this.#questions.seal(received)) ?? ''))) {
      this.look(keyOf(waiting.turn));
      return undefined;
    }
    if (waiting.agent) settleAnswer(waiting.agent.answer, reply);
    else {
      this.#expectReply(asked.questionId, { reply, asks: asked.asks });
      waiting.runAgain?.();
    }
    return asked.taskId;
  }

  /** Stores the reply for the process in which the agent waits. */
  async #leave(received: Received): Promise<string | undefined> {
    const { asked, reply } = received;
    const { storage, logger } = this.#context;
    const key = { scope: asked.scope, id: asked.taskId };
    const text = keptText({ reply, asks: asked.asks });
    const sealed = (await this.#questions.seal(received)) ?? (await sealFor(asked.publicKey, text, secretPlace(key)));
    if (!(await this.#questions.use(asked, sealed))) return undefined;
    storage.wakeups.taskChanged(key);
    this.#follow(received).catch((error: unknown) => {
      logger.error('an authorization has not reached its agent', { taskId: key.id, error });
    });
    return asked.taskId;
  }

  /** Restarts the agent if the process that should read the reply has ended. */
  async #follow(received: Received): Promise<void> {
    const { asked } = received;
    const { clock, node, limits } = this.#context;
    const end = clock.monotonic() + FOLLOWED_LEASES * node.lease.leaseMs;
    while (clock.monotonic() < end && !this.#turns.closing) {
      await new Promise<void>((resolve) => void clock.after(limits.lookMs, resolve));
      try {
        const stored = await this.#questions.task(asked);
        if (stored === undefined) return;
        if (!stored.running && (await this.#resume(received, `${usedKey(asked)} again`)) !== undefined) return;
      } catch (error) {
        this.#context.logger[failureLevel(error)]('following an authorization failed, trying again', { error });
      }
    }
  }

  /** Accepts the message again in the same commit that marks the key as used, unless it is used already. */
  async #resume(received: Received, usedAs: string): Promise<string | undefined> {
    const { storage, limits, clock } = this.#context;
    const { asked, reply } = received;
    const { scope, taskId, messageId, caller, asks, turn, attempt } = asked;
    const key = { scope, id: taskId };
    const stored = await this.#questions.task(asked);
    const message = stored?.task.history?.findLast((one) => one.messageId === messageId && one.role === 'ROLE_USER');
    if (message === undefined) return undefined;
    const sealedReply = await this.#questions.seal(received);
    const resumes = turn === undefined || attempt === undefined ? true : { turn, attempt };
    const arrival = this.#turns.registerArrival(key);
    try {
      const outcome = await storage.accept({
        scope,
        message,
        caller: { ...caller, resumes, acceptedAt: clock.now(), ...(sealedReply !== undefined && { sealedReply }) },
        task: { id: taskId },
        claim: this.#context.node.lease,
        idempotency: { key: usedAs, digest: '', ttlMs: limits.waitingExpiryMs, isLasting: true },
        waitingLimit: limits.waitingMessages,
      });
      if (outcome.kind !== 'accepted') return undefined;
      this.#expectReply(placeOf(key, outcome.turn), { reply, asks });
      if (outcome.claim) this.#turns.start(this.#turns.admit(outcome.claim, arrival.sentAt));
      else this.#turns.of(key)?.yieldToMessage();
      return taskId;
    } finally {
      arrival.end();
    }
  }

  #expectReply(place: string, reply: KeptReply): void {
    this.#replies.set(place, reply);
    this.#context.clock.after(REPLY_MS, () => this.#replies.delete(place));
  }
}

function settleAnswer(answer: PromiseWithResolvers<Authorization>, reply: AuthorizationReply): void {
  if (reply.kind === 'denied') answer.reject(new AuthorizationError('denied'));
  else answer.resolve({ parameters: reply.parameters });
}

function keyOf({ scope, taskId }: WaitingTurn): TaskKey {
  return { scope, id: taskId };
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
