import { setTimeout as delay } from 'node:timers/promises';
import { answerOf, current, paramsOf } from './javascript-0-3-peer.js';
import type { JsonObject, Outgoing } from './javascript-peer.js';
import type { Peer } from './play.js';
import type { Json } from './scenarios.js';

/** An event for a callback. */
export interface CallbackEvent {
  readonly type: 'status' | 'artifact';
  readonly taskId: string;
  readonly contextId: string;
  readonly status?: { readonly state: string };
  readonly artifact?: { readonly artifactId: string };
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly final?: boolean;
}

/** A task of 0.3. */
export interface PlainTask {
  readonly kind: string;
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string };
  readonly artifacts?: readonly { readonly artifactId: string }[];
  readonly history?: readonly { readonly messageId: string; readonly role: string }[];
}

/** The task of a stream, as a client without types of Parley describes it. */
export interface PlainStreamingTask {
  subscribe(callback: unknown): Promise<Disposable>;
  unsubscribeCallback(callback: unknown): Promise<void>;
  isFinalState(): Promise<boolean>;
  getTask(historyLength?: number): Promise<PlainTask>;
  dispose(): Promise<void>;
}

/** The methods with plain arguments, as such a client describes them. */
export interface PlainService {
  authenticate(credential: object): PlainService;
  getAgentCard(): Promise<object>;
  sendMessage(message: object, configuration?: object): Promise<PlainTask>;
  sendMessageStreaming(message: object, configuration?: object, callback?: unknown): Promise<PlainStreamingTask>;
  getTask(id: string, historyLength?: number): Promise<PlainTask>;
  listTasks(params?: object): Promise<{
    readonly tasks: readonly PlainTask[];
    readonly total: number;
    readonly hasMore: boolean;
  }>;
  cancelTask(id: string): Promise<PlainTask>;
}

/** The time between two looks at a task, which plain arguments cannot subscribe to. */
const LOOK_MS = 50;

const TURN_IS_OVER = /completed|failed|canceled|rejected|required/;

/** The stock client of Cap'n Web with plain arguments, converted to JSON of 1.0 so that it plays the scenarios. */
export class CapnwebPlainPeer implements Peer {
  readonly version = '0.3';
  readonly #service: PlainService;

  constructor(service: PlainService) {
    this.#service = service;
  }

  visible(pattern: Json): Json {
    return pattern;
  }

  async send(outgoing: Outgoing): Promise<{ readonly task?: JsonObject; readonly message?: JsonObject }> {
    const { message, configuration } = paramsOf(outgoing);
    return answerOf(await this.#service.sendMessage(message, configuration));
  }

  /** The events of a callback. The first state stands for the task, with the artifacts that it has already. */
  async *stream(outgoing: Outgoing): AsyncGenerator<JsonObject> {
    const { message, configuration } = paramsOf(outgoing);
    const arrived: CallbackEvent[] = [];
    let wake = (): void => {};
    const take = (event: CallbackEvent): void => {
      arrived.push(event);
      wake();
    };
    const begun = await this.#service.sendMessageStreaming(message, configuration, take);
    // The task of a stream is a remote object, which is a function here.
    if (typeof begun === 'object') return void (yield answerOf(begun));
    let isTask = 'taskId' in outgoing.message;
    for (let at = 0; ; at++) {
      while (arrived.length <= at) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const { type, ...event } = arrived[at] as CallbackEvent;
      const plain = current(event);
      if (at > 0 && type === 'status') isTask = false;
      if (at === 0) yield { task: { ...plain, id: plain.taskId } };
      else if (!isTask) yield type === 'status' ? { statusUpdate: plain } : { artifactUpdate: plain };
      if (at > 0 && 'status' in event && TURN_IS_OVER.test(event.status.state)) return;
    }
  }

  /** The task again and again, as long as its reader looks. */
  async *subscribe(id: string, signal?: AbortSignal): AsyncGenerator<JsonObject> {
    for (; signal?.aborted !== true; await delay(LOOK_MS)) yield { task: await this.task(id) };
  }

  async task(id: string): Promise<JsonObject> {
    return current(await this.#service.getTask(id));
  }
}
