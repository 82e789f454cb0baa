// Speaks both HTTP bindings by hand, and reads event streams frame by frame.
import { Agent, request } from 'node:http';
import { plantSecret } from '../../packages/parley/test/planted-secrets.ts';

/** An answer with another result than the call must have. */
export class Unexpected extends Error {}

/** One client of the server, over keep-alive connections. */
export class Client {
  #agent = new Agent({ keepAlive: true });
  #url;
  /** Requests that were repeated, because the server was ending their idle connection (RFC 9110 §9.2.2). */
  repeated = 0;

  constructor(url) {
    this.#url = new URL(url);
  }

  /** Status and parsed body of a call; `body` may be a string, which is sent as it is. */
  async unary(method, path, body, headers) {
    const response = await this.#open({ method, path, body, headers });
    let text = '';
    response.setEncoding('utf8');
    for await (const part of response) text += part;
    return { status: response.statusCode, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** The frames of a stream, each `{id, data}`. Leaving the loop cuts the connection. */
  async *stream(method, path, body, headers) {
    const response = await this.#open({ method, path, body, headers: { accept: 'text/event-stream', ...headers } });
    response.setEncoding('utf8');
    if (!String(response.headers['content-type']).startsWith('text/event-stream')) {
      let text = '';
      for await (const part of response) text += part;
      throw new Unexpected(`no stream but ${response.statusCode} ${text}`);
    }
    let rest = '';
    for await (const part of response) {
      const blocks = (rest + part).split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) {
        if (block.startsWith(':')) continue;
        const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? [];
        if (data === undefined) throw new Unexpected(`not a frame: ${block}`);
        yield { id: Number(id), data: JSON.parse(data) };
      }
    }
    if (rest !== '') throw new Unexpected(`the stream ends with ${rest}`);
  }

  close() {
    this.#agent.destroy();
  }

  async #open(call) {
    try {
      return await this.#answerTo(call);
    } catch (error) {
      if (error.code !== 'ECONNRESET' || !error.reusedSocket) throw error;
      this.repeated += 1;
      return this.#answerTo(call);
    }
  }

  #answerTo({ method, path, body, headers }) {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          agent: this.#agent,
          host: this.#url.hostname,
          port: this.#url.port,
          method,
          path,
          headers: {
            'a2a-version': '1.0',
            authorization: `Bearer ${plantSecret('token')}`,
            ...(text !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
        },
        resolve,
      );
      asked.setTimeout(30_000, () => asked.destroy(new Unexpected('no answer for 30 s')));
      asked.on('error', (error) => reject(Object.assign(error, { reusedSocket: asked.reusedSocket })));
      asked.end(text);
    });
  }
}

/** The operations over JSON-RPC: each a result, or an error with a code. */
export const jsonRpc = (client) => ({
  name: 'JSON-RPC',
  send: (params, agent = '') => call(client, agent, 'SendMessage', params),
  get: (id) => call(client, '', 'GetTask', { id }),
  list: (params) => call(client, '', 'ListTasks', params),
  cancel: (id) => call(client, '', 'CancelTask', { id }),
  streamed: (params) => results(client.stream('POST', '/', envelope('SendStreamingMessage', params))),
  subscribed: (id, last) =>
    results(client.stream('POST', '/', envelope('SubscribeToTask', { id }), { 'last-event-id': String(last) })),
});

/** The same over HTTP+JSON. */
export const httpJson = (client) => ({
  name: 'HTTP+JSON',
  send: (params, agent = '') => rest(client, 'POST', route(agent, 'message:send'), params),
  get: (id) => rest(client, 'GET', route('', `tasks/${id}`)),
  list: (params) => rest(client, 'GET', route('', `tasks?${new URLSearchParams(params)}`)),
  cancel: (id) => rest(client, 'POST', route('', `tasks/${id}:cancel`), {}),
  streamed: (params) => client.stream('POST', route('', 'message:stream'), params),
  subscribed: (id, last) =>
    client.stream('GET', route('', `tasks/${id}:subscribe`), undefined, { 'last-event-id': String(last) }),
});

/** The agent at the root has its bindings below `/a2a`, any other at its own path. */
const route = (agent, path) => `${agent || '/a2a/rest'}/${path}`;
const envelope = (method, params) => ({ jsonrpc: '2.0', id: 7, method, params });

async function call(client, agent, method, params) {
  const { status, body } = await client.unary('POST', agent || '/', envelope(method, params));
  if (status !== 200 || body?.id !== 7) throw new Unexpected(`${method}: ${status} ${JSON.stringify(body)}`);
  return 'error' in body ? { error: body.error.code } : { result: body.result };
}

async function rest(client, method, path, params) {
  const { status, body } = await client.unary(method, path, params);
  return status === 200 ? { result: body } : { error: status };
}

async function* results(frames) {
  for await (const { id, data } of frames) {
    if (data.result === undefined) throw new Unexpected(`no result in ${JSON.stringify(data)}`);
    yield { id, data: data.result };
  }
}
