import { cloneJson } from '../model/clone-json.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { CallOutcome } from '../operations/interceptor.js';
import type { OperationName, OperationResponse, OperationTypes } from '../operations/operations.js';
import { HandedTask } from '../task/handed-task.js';
import type { ItemSource, StreamItem } from '../task/stream-item.js';
import type { ServerInterceptor } from './intercepted-handler.js';

/**
 * Isolates the engine from code that changes its objects. The engine gets a copy of the request. Changes of a response
 * or an event do not reach the storage or other callers.
 */
export const isolation: ServerInterceptor = (call, next) => {
  const outcome = next({ ...call, request: copyRequest(call.request) });
  const copied = Symbol.asyncIterator in outcome ? copyStream(outcome) : outcome.then(copyResponse);
  return copied as CallOutcome<OperationName, StreamItem>;
};

type Request = OperationTypes[OperationName]['request'];

/** Copies a request, because the engine may store parts of it. */
function copyRequest<R extends Request>(request: R): R {
  return cloneJson(request);
}

/** Copies a response for code that may change it. */
function copyResponse<R extends OperationResponse>(response: R): R {
  return copyOf(response) as R;
}

/** Copies events for code that may change them. Each copy is made at the first read. */
export function copyStream(items: AsyncIterable<StreamItem>): AsyncIterable<StreamItem> {
  return new HandedStream(items);
}

function copyOf(response: OperationResponse): OperationResponse {
  if (response === undefined) return response;
  if ('tasks' in response) return { ...response, tasks: response.tasks.map((task) => new HandedTask(task)) };
  if ('task' in response) return handedEvent(response);
  return 'status' in response ? new HandedTask(response) : cloneJson(response);
}

function handedEvent(event: StreamResponse): StreamResponse {
  return event.task !== undefined ? { task: new HandedTask(event.task) } : cloneJson(event);
}

/** One event. Its copy is made at the first read. */
class HandedItem implements StreamItem {
  declare readonly event: StreamResponse;
  declare readonly seq?: number;
  declare readonly last?: boolean;
  readonly #item: StreamItem;

  constructor(item: StreamItem) {
    this.#item = item;
    // An own accessor, so that `{ ...item }` includes it. A copy made this way has no text, because its event may be
    // replaced.
    Object.defineProperty(this, 'event', {
      enumerable: true,
      configurable: true,
      get: () => {
        const value = handedEvent(item.event);
        Object.defineProperty(this, 'event', { value, enumerable: true, configurable: true, writable: true });
        return value;
      },
    });
    if (item.seq !== undefined) this.seq = item.seq;
    if (item.last !== undefined) this.last = item.last;
  }

  get text(): string {
    return this.#item.text ?? JSON.stringify(this.#item.event);
  }
}

/** The events of a stream, copied for each reader. */
class HandedStream implements AsyncIterable<StreamItem>, ItemSource {
  readonly #items: ItemSource;

  constructor(items: AsyncIterable<StreamItem>) {
    this.#items = items[Symbol.asyncIterator]() as ItemSource;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<StreamItem, undefined>> {
    const next = await this.#items.next();
    return next.done === true ? next : { done: false, value: new HandedItem(next.value) };
  }

  ready(): StreamItem | undefined {
    const item = this.#items.ready?.();
    return item && new HandedItem(item);
  }

  async return(): Promise<IteratorResult<StreamItem, undefined>> {
    await this.#items.return?.();
    return { done: true, value: undefined };
  }
}
