import { Agent, type IncomingMessage, request } from 'node:http';

/** One event of a stream: its text as sent, and the time of its arrival in ms since the epoch. */
export interface ArrivedEvent {
  readonly text: string;
  readonly at: number;
}

/** Calls to one replica, each over JSON-RPC of 1.0. */
export interface ReplicaClient {
  /** @throws Error for an answer that is an error. */
  call(method: string, params: object): Promise<unknown>;
  /** The events of a stream until its end. */
  stream(method: string, params: object): AsyncIterable<ArrivedEvent>;
  close(): void;
}

/** The params of a message with a text. */
export function said(text: string, configuration?: object): object {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  return { message, ...(configuration && { configuration }) };
}

/** A client with connections of its own. */
export function replicaClient(port: number): ReplicaClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 10_000 });
  const send = (method: string, params: object) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
      const sent = request({ port, host: '127.0.0.1', path: '/a2a/jsonrpc', method: 'POST', headers, agent }, resolve);
      sent.once('error', reject);
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    });
  return {
    call: async (method, params) => {
      const answer = await send(method, params);
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) text += String(chunk);
      const { result, error } = JSON.parse(text) as { readonly result?: unknown; readonly error?: unknown };
      if (error !== undefined) throw new Error(`${method}: ${text.slice(0, 500)}`);
      return result;
    },
    stream: async function* (method, params) {
      const answer = await send(method, params);
      let rest = '';
      for await (const chunk of answer.setEncoding('utf8')) {
        const frames = (rest + String(chunk)).split('\n\n');
        rest = frames.pop() ?? '';
        const at = performance.timeOrigin + performance.now();
        for (const frame of frames) {
          const data = frame.split('\n').find((line) => line.startsWith('data:'));
          if (data !== undefined) yield { text: data.slice(5), at };
        }
      }
      if (rest.includes('"error"')) throw new Error(`${method}: ${rest.slice(0, 500)}`);
    },
    close: () => agent.destroy(),
  };
}
