import type { RpcStub } from 'capnweb';
import type { A2AService, TaskCallback } from 'parley-a2a/capnweb';
import { answerOf, current, paramsOf } from './javascript-0-3-peer.js';
import type { JsonObject, Outgoing } from './javascript-peer.js';
import type { Peer } from './play.js';
import type { Json } from './scenarios.js';

type CallbackEvent = Parameters<Extract<TaskCallback, (event: never) => unknown>>[0];

const TURN_IS_OVER = /completed|failed|canceled|rejected|required/;

/** The stock client of Cap'n Web with plain arguments, converted to JSON of 1.0 so that it plays the scenarios. */
export class CapnwebPlainPeer implements Peer {
  readonly version = '0.3';
  readonly #service: RpcStub<A2AService>;

  constructor(service: RpcStub<A2AService>) {
    this.#service = service;
  }

  visible(pattern: Json): Json {
    return pattern;
  }

  async send(outgoing: Outgoing): Promise<{ readonly task?: JsonObject; readonly message?: JsonObject }> {
    const { message, configuration } = paramsOf(outgoing);
    return answerOf((await this.#service.sendMessage(message as never, configuration as never)) as object);
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
    const begun = await this.#service.sendMessageStreaming(message as never, configuration as never, take as never);
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

  subscribe(): AsyncIterable<JsonObject> {
    throw new Error('Plain arguments have no subscription apart from the task of a stream');
  }

  async task(id: string): Promise<JsonObject> {
    return current((await this.#service.getTask(id)) as object);
  }
}
