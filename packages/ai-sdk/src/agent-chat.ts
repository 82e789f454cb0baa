import type { Artifact, Task, TaskState } from 'parley-a2a';
import type { CallOptions, Client } from 'parley-a2a/client';
import { A2AError, callerClock, isInterrupted, isTerminal } from 'parley-a2a/kit';
import { agentTurn, type TurnSource } from './agent-turn.js';
import { type A2AChatChunk, type AnswerStart, ChatChunks, isRunning } from './chat-chunks.js';
import { answerIdIn, type ChatInput, newAnswerId, sentId } from './chat-message.js';
import { MODEL_OUTPUT_EXTENSION } from './model-output.js';

/** The data needed to continue a chat with an agent. Plain JSON. */
export interface A2AChatPlace {
  readonly contextId?: string;
  readonly taskId?: string;
  /** The last state of the task that the chat has received. */
  readonly state?: TaskState;
  /** The message of the chat with the last answer. */
  readonly messageId?: string;
  /** The artifacts that the task had before that message. */
  readonly earlier?: readonly Artifact[];
}

/** The places of chats by their keys. A `Map` is one. */
export interface A2AChatPlaces {
  get(key: string): A2AChatPlace | undefined | Promise<A2AChatPlace | undefined>;
  set(key: string, place: A2AChatPlace): unknown;
}

/** Maximum number of places in memory. */
const MOST_PLACES = 500;

/** A bounded store of chat places in memory. */
export function recentPlaces(): A2AChatPlaces {
  const places = new Map<string, A2AChatPlace>();
  return {
    get: (key) => places.get(key),
    set(key, place) {
      places.delete(key);
      places.set(key, place);
      for (const oldest of places.keys()) if (places.size > MOST_PLACES) places.delete(oldest);
    },
  };
}

/** A chat, and the agent that it is with. */
interface ChatAddress {
  readonly client: Client;
  /** The context of its first message, and the key of its place. */
  readonly contextId: string;
  readonly places: A2AChatPlaces;
  /** Time in ms for which a finished answer is sent again on resume, because its reader may have missed the end. */
  readonly recentMs: number;
}

/** The reader of an answer. */
export interface ChatReader {
  /** Aborts when the reader leaves. */
  readonly signal: AbortSignal;
  /** Returns true if a reader that leaves cancels the task. */
  cancels(): boolean;
}

/** Maximum number of characters of artifacts that a place stores, as JSON. */
const MOST_EARLIER = 65_536;

/** A chat with an agent. */
export class AgentChat {
  readonly #client: Client;
  readonly #contextId: string;
  readonly #places: A2AChatPlaces;
  readonly #recentMs: number;
  readonly #declared: Pick<CallOptions, 'extensions'>;

  constructor({ client, contextId, places, recentMs }: ChatAddress) {
    this.#recentMs = recentMs;
    this.#client = client;
    this.#contextId = contextId;
    this.#places = places;
    const offered = client.card.capabilities.extensions?.some(({ uri }) => uri === MODEL_OUTPUT_EXTENSION) === true;
    this.#declared = offered ? { extensions: [MODEL_OUTPUT_EXTENSION] } : {};
  }

  /** Sends new content, and returns the answer. Before the first message of a chat, the agent has no task for it. */
  async send(
    { parts, continues }: ChatInput,
    { isFirst, ...reader }: ChatReader & { readonly isFirst: boolean },
  ): Promise<AsyncGenerator<A2AChatChunk>> {
    const place = await this.#places.get(this.#contextId);
    const task = isFirst && place === undefined ? undefined : await this.#lastTask(place, reader);
    const taskId = task !== undefined && isInterrupted(task.status.state) ? task.id : undefined;
    const contextId = task?.contextId ?? place?.contextId ?? this.#contextId;
    const answerId = continues?.messageId ?? newAnswerId();
    const message = { messageId: sentId(answerId), parts, contextId, ...(taskId !== undefined && { taskId }) };
    // The answer continues a message whose first part was sent before.
    const earlier = continues && (place?.earlier ?? []);
    return this.#answer(
      { message },
      { ...reader, messageId: answerId, continuedTaskId: taskId, callIds: continues?.callIds ?? [], keeps: earlier },
    );
  }

  /** Repeats the last answer from its beginning, if the agent is still working on it or it ended recently. */
  async resume(reader: ChatReader): Promise<AsyncGenerator<A2AChatChunk> | undefined> {
    const known = await this.#places.get(this.#contextId);
    const task = await this.#lastTask(known, reader);
    if (task === undefined) return undefined;
    // Another page may have sent a message meanwhile.
    const {
      state,
      earlier,
      messageId = answerIdIn(task.history) ?? newAnswerId(),
    } = known?.taskId === task.id ? known : {};
    const since = callerClock.now() - Date.parse(task.status.timestamp ?? '');
    const isMissed = (state !== undefined && isRunning(state)) || since < this.#recentMs;
    if (!isRunning(task.status.state) && !isMissed) return undefined;
    return this.#answer({ subscribeTo: task.id }, { ...reader, messageId, earlier, keeps: earlier });
  }

  /** Cancels the running or waiting task, if there is one. */
  async cancel(): Promise<void> {
    const task = await this.#lastTask(await this.#places.get(this.#contextId), {});
    if (task !== undefined && !isTerminal(task.status.state)) await orNone(this.#client.cancelTask(task.id));
  }

  /** The last task of the chat, as the agent stores it. For an agent that cannot list tasks, a place is needed. */
  async #lastTask(place: A2AChatPlace | undefined, { signal }: Partial<ChatReader>): Promise<Task | undefined> {
    const options = signal === undefined ? {} : { signal };
    const contextId = place?.contextId ?? this.#contextId;
    const listed = await orNone(this.#client.listTasks({ contextId, pageSize: 1 }, options));
    if (listed?.tasks[0] !== undefined || place?.taskId === undefined) return listed?.tasks[0];
    return await orNone(this.#client.getTask(place.taskId, options));
  }

  async *#answer(
    source: TurnSource,
    { signal, cancels, keeps, ...start }: ChatReader & AnswerStart & { readonly keeps: A2AChatPlace['earlier'] },
  ): AsyncGenerator<A2AChatChunk> {
    const chunks = new ChatChunks(start);
    const { answer } = chunks;
    let kept: TaskState | undefined;
    let earlier = keeps;
    yield* chunks.begin();
    for await (const event of agentTurn(this.#client, source, { signal, cancels, until: 'input', ...this.#declared })) {
      const isFirst = kept === undefined;
      const pieces = [...chunks.take(event)];
      if (isFirst && earlier === undefined) earlier = withinBound(answer.earlier);
      const { taskId, contextId, state } = answer;
      // The place is stored before its content is sent, so that a reload at any time can resume.
      if (isFirst || state !== kept) {
        kept = state ?? 'TASK_STATE_SUBMITTED';
        const { messageId } = start;
        await this.#places.set(this.#contextId, {
          ...(contextId !== undefined && { contextId }),
          ...(taskId !== undefined && { taskId, state: kept }),
          messageId,
          ...(earlier !== undefined && { earlier }),
        });
      }
      yield* pieces;
    }
    yield* chunks.end();
  }
}

const NO_TASK: readonly string[] = [
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'UNSUPPORTED_OPERATION',
  'METHOD_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'VERSION_NOT_SUPPORTED',
];

/** Undefined if the agent has no such task, or does not offer the operation. */
async function orNone<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof A2AError && NO_TASK.includes(error.code)) return undefined;
    throw error;
  }
}

function withinBound(earlier: readonly Artifact[]): readonly Artifact[] | undefined {
  return earlier.length === 0 || JSON.stringify(earlier).length > MOST_EARLIER ? undefined : earlier;
}
