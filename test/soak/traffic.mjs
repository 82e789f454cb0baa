// Operations of callers. Each throws on a wrong result.
import { httpJson, jsonRpc, Unexpected } from './client.mjs';

/** Share of each operation, in percent. */
const MIX = {
  call: 20,
  task: 20,
  get: 14,
  stream: 13,
  reconnect: 8,
  turns: 8,
  cancel: 6,
  list: 6,
  bad: 5,
};
/** Those whose times are compared over the run: a single request, and no waiting on purpose in between. */
export const TIMED = new Set(['call', 'task', 'get']);

const WHEEL = Object.entries(MIX).flatMap(([name, share]) => Array(share).fill(name));

/** The operations of one client. `recentMs`: a finished task can be read at least so long. */
export class Traffic {
  #client;
  #bindings;
  #random;
  #recentMs;
  #recent = [];
  #count = 0;
  /** Tasks that were brought to an end. */
  finished = 0;

  constructor({ client, random, recentMs }) {
    this.#client = client;
    this.#bindings = [jsonRpc(client), httpJson(client)];
    this.#random = random;
    this.#recentMs = recentMs;
  }

  /** Runs one random operation. Resolves to its name. */
  async one() {
    const kind = this.#pick(WHEEL);
    const binding = this.#pick(this.#bindings);
    try {
      await this[kind](binding);
    } catch (error) {
      throw new Unexpected(
        `${kind} over ${binding.name}: ${error instanceof Unexpected ? error.message : error.stack}`,
      );
    }
    return kind;
  }

  async call({ send }) {
    const text = `hello ${++this.#count}`;
    const { result } = await send(this.#message(text), '/call');
    expect(result?.message?.parts[0]?.text === text, 'the message comes back', result);
  }

  async task({ send }) {
    const { result } = await send(this.#message('task'));
    this.#finished(result?.task, 'done: task');
  }

  async get(binding) {
    const oldest = Date.now() - this.#recentMs;
    this.#recent = this.#recent.filter(({ at }) => at > oldest);
    if (this.#recent.length === 0) return this.task(binding);
    const { id } = this.#pick(this.#recent);
    const { result } = await binding.get(id);
    expect(result?.id === id && result.status.state === 'TASK_STATE_COMPLETED', 'a finished task is found', result);
  }

  async stream({ streamed }) {
    const chunks = 4 + Math.floor(this.#random() * 30);
    const seen = new Seen();
    for await (const frame of streamed(this.#message(`stream ${chunks}`))) seen.take(frame);
    this.#streamEnded(seen, chunks);
  }

  /** Leaves a stream in the middle, and resumes it. */
  async reconnect({ streamed, subscribed }) {
    const seen = new Seen();
    for await (const frame of streamed(this.#message('stream 24'))) {
      seen.take(frame);
      if (seen.last >= 5) break;
    }
    for await (const frame of subscribed(seen.taskId, seen.last)) seen.take(frame);
    this.#streamEnded(seen, 24);
  }

  async turns({ send }) {
    const { result } = await send(this.#message('ask'));
    expect(result?.task?.status.state === 'TASK_STATE_INPUT_REQUIRED', 'the agent asks', result);
    const answered = await send(this.#message('answer', result.task.id));
    this.#finished(answered.result?.task, 'done: answer');
    expect(answered.result.task.history.length >= 3, 'the history has both messages and the question', answered.result);
  }

  async cancel({ send, cancel, get }) {
    const { result } = await send({ ...this.#message('long'), configuration: { returnImmediately: true } });
    const { id } = result?.task ?? {};
    const cancelled = await cancel(id);
    expect(cancelled.result?.status.state === 'TASK_STATE_CANCELED', 'it is cancelled', cancelled);
    expect((await get(id)).result?.status.state === 'TASK_STATE_CANCELED', 'it stays cancelled');
    const again = await cancel(id);
    expect(again.error === -32002 || again.error === 409 || again.error === 400, 'not twice', again);
    this.finished += 1;
  }

  async list({ list }) {
    const { result } = await list({ pageSize: 20, status: 'TASK_STATE_COMPLETED' });
    const times = result?.tasks?.map(({ status }) => status.timestamp) ?? [];
    expect(times.length <= 20 && result?.totalSize >= times.length, 'a page', result);
    expect(
      result.tasks.every(({ status }) => status.state === 'TASK_STATE_COMPLETED'),
      'of the state',
      result,
    );
    expect(
      times.every((time, index) => index === 0 || time <= times[index - 1]),
      'newest first',
      times,
    );
  }

  async bad({ get, send }) {
    const wrong = [
      [() => get('00000000-0000-7000-8000-000000000000'), [-32001, 404]],
      [() => send({ message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }), [-32602, 400]],
      [() => send({ message: { messageId: 'm', role: 'ROLE_NOBODY', parts: [{ text: 'x' }] } }), [-32602, 400]],
      [() => send(this.#message('task', 'no-such-task')), [-32001, 404]],
      [() => this.#raw('/', '{"jsonrpc":'), [-32700]],
      [() => this.#raw('/', '{"jsonrpc":"2.0","id":7,"method":"NoSuchMethod"}'), [-32601]],
      [() => this.#raw('/a2a/rest/message:send', 'nothing'), [400]],
      [() => this.#raw('/a2a/rest/no-such-route', '{}'), [404]],
    ];
    const [ask, codes] = this.#pick(wrong);
    const { error } = await ask();
    expect(codes.includes(error), `one of ${codes}`, error);
  }

  async #raw(path, body) {
    const { status, body: answer } = await this.#client.unary('POST', path, body);
    return { error: path === '/' ? answer?.error?.code : status };
  }

  #message(text, taskId) {
    this.#count += 1;
    const messageId = `m${this.#count}-${this.#random()}`;
    return { message: { messageId, role: 'ROLE_USER', parts: [{ text }], ...(taskId && { taskId }) } };
  }

  #finished(task, text) {
    expect(task?.status.state === 'TASK_STATE_COMPLETED', 'the task is completed', task);
    expect(task.artifacts?.[0]?.parts[0]?.text === text, 'with its artifact', task);
    this.#ended(task.id);
  }

  #streamEnded(seen, chunks) {
    expect(seen.state === 'TASK_STATE_COMPLETED', 'the stream ends with the end of the task', seen);
    expect(seen.chunks === chunks, `${chunks} chunks`, seen);
    this.#ended(seen.taskId);
  }

  #ended(id) {
    this.finished += 1;
    this.#recent.push({ id, at: Date.now() });
  }

  #pick(list) {
    return list[Math.floor(this.#random() * list.length)];
  }
}

/** The events of a stream so far: each once, in order, none after the end. */
class Seen {
  taskId;
  state;
  last = 0;
  chunks = 0;

  take({ id, data }) {
    expect(id === this.last + 1, `event ${this.last + 1}`, { id, data });
    expect(this.state !== 'TASK_STATE_COMPLETED', 'nothing after the end', data);
    this.last = id;
    this.taskId ??= data.task?.id;
    const event = data.task ?? data.statusUpdate ?? data.artifactUpdate;
    expect((event.taskId ?? event.id) === this.taskId, 'of one task', data);
    if (data.artifactUpdate !== undefined) this.chunks += 1;
    else this.state = event.status.state;
  }
}

function expect(holds, what, found) {
  if (!holds) throw new Unexpected(`expected ${what}, found ${JSON.stringify(found)?.slice(0, 500)}`);
}
