import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { AgentCard } from '../../packages/parley/src/model/agent-card.js';

/** A received request. */
export interface StubCall {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // Tests look into what they sent themselves.
  readonly json: { readonly [member: string]: never } | undefined;
  /** Which call of this stub it is, from 1. */
  readonly number: number;
}

/** An answer: an object is sent as JSON, a function writes the response itself. */
export type StubAnswer =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | object;
    }
  | ((response: ServerResponse, socket: Socket) => void);

/** An HTTP server that returns the answers of a test, and records its requests. */
export class StubAgent implements AsyncDisposable {
  readonly calls: StubCall[] = [];
  readonly #server;
  url = '';

  constructor(answer: (call: StubCall, stub: StubAgent) => StubAnswer) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { method = '', url = '', headers } = request;
        const json = text.startsWith('{') ? JSON.parse(text) : undefined;
        const call = { method, url, headers, text, json, number: this.calls.length + 1 };
        this.calls.push(call);
        const said = answer(call, this);
        if (typeof said === 'function') {
          said(response, request.socket);
          return;
        }
        const { status = 200, headers: extra = {}, body = '' } = said;
        const type = typeof body === 'string' ? {} : { 'content-type': 'application/json' };
        response.writeHead(status, { ...type, ...extra });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    });
  }

  /** Listens on a free port; `await using` closes it. */
  static async start(answer: (call: StubCall, stub: StubAgent) => StubAnswer): Promise<StubAgent> {
    const stub = new StubAgent(answer);
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    stub.url = `http://127.0.0.1:${(stub.#server.address() as AddressInfo).port}`;
    return stub;
  }

  /** Returns a card whose interfaces for these bindings are the stub. */
  card(members: Partial<AgentCard> = {}, bindings: readonly string[] = ['JSONRPC']): AgentCard {
    return {
      name: 'Stub',
      description: '',
      version: '1',
      supportedInterfaces: bindings.map((protocolBinding) => ({
        url: this.url,
        protocolBinding,
        protocolVersion: '1.0',
      })),
      capabilities: { streaming: true },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      ...members,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A JSON-RPC response with this result. */
export function result(value: unknown): StubAnswer {
  return { body: { jsonrpc: '2.0', id: 1, result: value } };
}

/** The task of every answer. */
export function task(state = 'TASK_STATE_COMPLETED', members: object = {}): object {
  return { id: 't1', contextId: 'c1', status: { state }, ...members };
}
