import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly method: string; readonly params: Readonly<Record<string, unknown>> };
}

/** The answer of a test agent to a call. `undefined` gives no answer. */
export type Answer = (request: RecordedRequest) => {
  status?: number;
  headers?: Record<string, string>;
  body: unknown;
  events?: readonly object[];
};

const message = { messageId: 'answer', role: 'ROLE_AGENT', contextId: 'c-1', parts: [{ text: 'heard' }] };

/** A JSON-RPC answer. */
export const result = (value: unknown) => ({ body: { jsonrpc: '2.0', id: 1, result: value } });

/** A stream that is closed after these events. */
export const stream = (...events: readonly object[]) => ({ body: undefined, events });

/** An agent that records its requests, and returns the answers of the test. */
export class RecordingAgent implements AsyncDisposable {
  readonly requests: RecordedRequest[] = [];
  readonly #server: Server;
  url = '';

  private constructor(card: (url: string) => object, answer: Answer) {
    this.#server = createServer(async (request, response) => {
      const url = new URL(`http://x${request.url}`);
      const recorded = {
        method: request.method ?? '',
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: await bodyOf(request),
      };
      this.requests.push(recorded);
      const isCard = url.pathname === '/.well-known/agent-card.json';
      const given = isCard ? { body: card(this.url) } : answer(recorded);
      const { status = 200, headers = {}, body, events } = given as ReturnType<Answer>;
      const echoed = typeof body === 'object' && body !== null && 'jsonrpc' in body;
      const text = echoed
        ? JSON.stringify({ ...body, id: (recorded.body as { id?: unknown }).id })
        : JSON.stringify(body);
      if (events !== undefined) {
        const { id } = recorded.body as { id?: unknown };
        const frames = events.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.join(''));
        return;
      }
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    });
  }

  static async start({
    card = {},
    answer = () => result({ message }),
  }: {
    card?: object | ((url: string) => object);
    answer?: Answer;
  } = {}): Promise<RecordingAgent> {
    const agent = new RecordingAgent(
      (url) => ({ ...plainCard(url), ...(typeof card === 'function' ? card(url) : card) }),
      answer,
    );
    agent.#server.listen(0, '127.0.0.1');
    await once(agent.#server, 'listening');
    agent.url = `http://127.0.0.1:${(agent.#server.address() as AddressInfo).port}`;
    return agent;
  }

  /** The requests other than for the card. */
  get calls(): readonly RecordedRequest[] {
    return this.requests.filter(({ path }) => !path.startsWith('/.well-known/'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Returns a minimal card. */
export function plainCard(url: string): object {
  return {
    name: 'Recorder',
    description: 'Keeps what it is sent',
    version: '1',
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}

async function bodyOf(request: IncomingMessage): Promise<RecordedRequest['body']> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? { method: '', params: {} } : JSON.parse(text);
}
