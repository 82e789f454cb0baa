import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of a webhook. */
export interface HookCall {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A webhook on a free port of this machine. Records its calls. */
export class Webhook implements AsyncDisposable {
  readonly calls: HookCall[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      this.calls.push({ headers: request.headers, body });
      response.end();
      this.#server.emit('called');
    });
  }

  static async open(): Promise<Webhook> {
    const hook = new Webhook();
    hook.#server.listen(0, '127.0.0.1');
    await once(hook.#server, 'listening');
    return hook;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Resolves with the first call whose body matches, as soon as it arrives. */
  async call(body: RegExp): Promise<HookCall> {
    for (;;) {
      const found = this.calls.find((call) => body.test(call.body));
      if (found !== undefined) return found;
      await once(this.#server, 'called');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
