import { eventFrames } from '../support/event-frames.js';
import { assertNoInternals } from '../support/no-internals.js';

/** A task as it came over the wire. */
export interface WireTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: {
    readonly state: string;
    readonly message?: { readonly parts: readonly { readonly text?: string }[] };
  };
  readonly history?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
  readonly artifacts?: readonly {
    readonly metadata?: unknown;
    readonly parts: readonly { readonly data?: unknown; readonly text?: string; readonly metadata?: unknown }[];
  }[];
}

/** A stream that was read to its end. */
export interface WireStream {
  readonly taskId: string;
  /** States in the order in which they were shown, without their prefix. */
  readonly states: readonly string[];
  readonly events: number;
}

/** Checks during a stream. */
export interface StreamSights {
  readonly task?: (id: string) => void;
  readonly heartbeat?: () => void;
}

let messages = 0;

/** A client of one agent that speaks the raw wire, and looks for internals in all that it reads. */
export class Caller {
  readonly #base: string;

  constructor(address: string, agent: string) {
    this.#base = `${address}/${agent}`;
  }

  /** A blocking call over HTTP+JSON. */
  async send(
    text: string,
    over: { readonly taskId?: string; readonly configuration?: object } = {},
  ): Promise<WireTask> {
    const { taskId, ...rest } = over;
    const { task } = (await this.#rest('POST', 'message:send', { message: message(text, taskId), ...rest })) as {
      task: WireTask;
    };
    return task;
  }

  /** Starts a task and does not wait for it. */
  start(text: string, over: { readonly taskId?: string } = {}): Promise<WireTask> {
    return this.send(text, { ...over, configuration: { returnImmediately: true } });
  }

  task(id: string): Promise<WireTask> {
    return this.#rest('GET', `tasks/${id}`) as Promise<WireTask>;
  }

  /** The tasks that were begun with a text. */
  async begunWith(text: string): Promise<readonly string[]> {
    return (await this.#listed(text)).map(({ id }) => id);
  }

  async #listed(text: string): Promise<readonly WireTask[]> {
    const { tasks } = (await this.#rest('GET', 'tasks?pageSize=100')) as { tasks: readonly WireTask[] };
    return tasks.filter(({ history }) => history?.[0]?.parts[0]?.text === text);
  }

  cancel(id: string): Promise<WireTask> {
    return this.#rest('POST', `tasks/${id}:cancel`, {}) as Promise<WireTask>;
  }

  /** A streaming call over JSON-RPC, read to its end. */
  async stream(text: string, seen: StreamSights = {}): Promise<WireStream> {
    const params = { message: message(text) };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params });
    const response = await fetch(this.#base, { method: 'POST', headers: HEADERS, body });
    const states: string[] = [];
    let [taskId, events] = ['', 0];
    for await (const { data } of eventFrames(response)) {
      if (data === undefined) {
        seen.heartbeat?.();
        continue;
      }
      assertNoInternals(data);
      events += 1;
      const { result } = JSON.parse(data) as {
        result: Record<string, { taskId?: string; id?: string; status?: WireTask['status'] }>;
      };
      const event = Object.values(result)[0];
      if (events === 1) {
        taskId = event?.id ?? '';
        seen.task?.(taskId);
      }
      if (event?.status) states.push(stateOf(event));
    }
    return { taskId, states, events };
  }

  async #rest(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.#base}/${path}`, {
      method,
      headers: HEADERS,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assertNoInternals(text);
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text);
  }
}

/** The state without its prefix. */
export function stateOf({ status }: { readonly status?: { readonly state: string } }): string {
  return status?.state.replace('TASK_STATE_', '') ?? '';
}

/** The text of a task's status. */
export function saysOf({ status }: WireTask): string {
  return status.message?.parts.map(({ text }) => text ?? '').join('') ?? '';
}

const HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' };

function message(text: string, taskId?: string): object {
  messages += 1;
  return { messageId: `m${messages}`, role: 'ROLE_USER', parts: [{ text }], ...(taskId && { taskId }) };
}
