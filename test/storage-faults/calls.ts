import type { Task } from '../../packages/parley/src/model/task.js';
import { eventFrames } from '../support/event-frames.js';
import type { Addresses } from './server-process.js';

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A stream as far as it has come. */
export class Stream {
  /** The event ids, in the order in which they came. */
  readonly ids: number[] = [];
  readonly states: string[] = [];
  taskId = '';
  /** `undefined` while it is open; an error it ended with. */
  ended: true | Error | undefined;
  readonly done: Promise<void>;

  constructor(response: Promise<Response>) {
    this.done = this.#read(response).then(
      () => {
        this.ended = true;
      },
      (error: Error) => {
        this.ended = error;
      },
    );
  }

  async #read(response: Promise<Response>): Promise<void> {
    for await (const { id, data } of eventFrames(await response)) {
      if (id !== undefined && data !== undefined) this.#take(id, data);
    }
  }

  #take(seq: number, data: string): void {
    this.ids.push(seq);
    const parsed = JSON.parse(data) as { result?: object };
    const [event] = Object.values(parsed.result ?? parsed) as { id?: string; status?: { state: string } }[];
    if (event?.id !== undefined) this.taskId = event.id;
    if (event?.status !== undefined) this.states.push(event.status.state);
  }
}

let messages = 0;

/** Calls a server in both bindings. */
export class Caller {
  readonly #addresses: Addresses;

  constructor(addresses: Addresses) {
    this.#addresses = addresses;
  }

  /** SendMessage over JSON-RPC. */
  send(text: string, taskId?: string): Promise<Answer> {
    return this.call('SendMessage', request(text, taskId));
  }

  /** SendMessage over HTTP+JSON. */
  sendRest(text: string): Promise<Answer> {
    return answerOf(this.#post(`${this.#addresses.rest}/message:send`, request(text)));
  }

  call(method: string, params: object): Promise<Answer> {
    return answerOf(this.#post(this.#addresses.jsonRpc, { jsonrpc: '2.0', id: 1, method, params }));
  }

  task(id: string): Promise<Answer> {
    return this.get(`/tasks/${id}`);
  }

  /** The answer of HTTP+JSON at a path. */
  get(path: string): Promise<Answer> {
    return answerOf(fetch(`${this.#addresses.rest}${path}`, { headers: HEADERS }));
  }

  stream(text: string): Stream {
    const envelope = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: request(text) };
    return new Stream(this.#post(this.#addresses.jsonRpc, envelope));
  }

  streamRest(text: string): Stream {
    return new Stream(this.#post(`${this.#addresses.rest}/message:stream`, request(text)));
  }

  #post(url: string, body: object): Promise<Response> {
    return fetch(url, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
  }
}

const HEADERS = {
  'content-type': 'application/json',
  'a2a-version': '1.0',
  accept: 'application/json, text/event-stream',
};

/** The task of an answer that brings one. */
export function taskOf({ body }: Answer): Task {
  const result = (body.result ?? body) as { readonly task?: Task };
  const task = result.task ?? (result as Partial<Task>);
  if (task.id === undefined) throw new Error(`No task in ${JSON.stringify(body)}`);
  return task as Task;
}

/** Polls until something holds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`It never came to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function request(text: string, taskId?: string): object {
  messages += 1;
  const message = { messageId: `m${messages}`, role: 'ROLE_USER', parts: [{ text }] };
  return { message: taskId === undefined ? message : { ...message, taskId } };
}

async function answerOf(response: Promise<Response>): Promise<Answer> {
  const { status, headers, ...rest } = await response.then(async (one) => ({
    status: one.status,
    headers: one.headers,
    body: (await one.json()) as Answer['body'],
  }));
  return { status, retryAfter: headers.get('retry-after'), body: rest.body };
}
