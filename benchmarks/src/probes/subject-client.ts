import { Agent, type IncomingMessage, request } from 'node:http';

/** Calls a subject over JSON-RPC. */
export class SubjectClient {
  readonly port: number;
  readonly #path: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(port: number, path = '/') {
    this.port = port;
    this.#path = path;
  }

  /** The answer, as soon as its head is there. */
  call(method: string, params: object): Promise<IncomingMessage> {
    const headers = {
      'content-type': 'application/json',
      accept: method === 'SendStreamingMessage' || method === 'SubscribeToTask' ? 'text/event-stream' : '*/*',
      'a2a-version': '1.0',
    };
    const options = {
      host: '127.0.0.1',
      port: this.port,
      path: this.#path,
      method: 'POST',
      agent: this.#agent,
      headers,
    };
    return new Promise((resolve, reject) => {
      const asked = request(options, resolve);
      asked.on('error', (error: NodeJS.ErrnoException) => {
        // The server was ending this idle connection (RFC 9110 §9.2.2).
        if (asked.reusedSocket && error.code === 'ECONNRESET') resolve(this.call(method, params));
        else reject(error);
      });
      asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    });
  }

  /** Cuts what is still open. */
  close(): void {
    this.#agent.destroy();
  }
}

/** The result in an answer. Throws the error in it. */
export async function jsonOf(answer: Promise<IncomingMessage>): Promise<unknown> {
  const body = await textOf(await answer);
  const { result } = JSON.parse(body) as { result?: unknown };
  if (result === undefined) throw new Error(body);
  return result;
}

/** The whole body. */
export async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
