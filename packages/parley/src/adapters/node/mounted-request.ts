import type { BodyMeter } from '../../bindings/http/body-budget.js';
import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import type { NodeExchangeRequest } from './node-exchange-request.js';

/** What a framework on node:http knows of a request beyond what has arrived. */
export interface Mounting {
  readonly arrived: NodeExchangeRequest;
  /** The path under which the framework has put the exchange; "" at the root. */
  readonly mount: string;
  /** What follows it, without query. */
  readonly path: string;
  /** Gives the body where it is not to be read from the connection. */
  readonly body?: ExchangeRequest['body'] | undefined;
}

/** A request that a framework on node:http hands on from somewhere below its root. */
export class MountedRequest implements ExchangeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly mount: string;
  readonly #arrived: NodeExchangeRequest;
  readonly #body: Mounting['body'];
  #read: Promise<Uint8Array> | undefined;

  constructor({ arrived, mount, path, body }: Mounting) {
    this.method = arrived.method;
    this.path = path;
    this.query = arrived.query;
    this.mount = mount;
    this.#arrived = arrived;
    this.#body = body;
  }

  get peer(): string | undefined {
    return this.#arrived.peer;
  }

  get local(): string | undefined {
    return this.#arrived.local;
  }

  get signal(): AbortSignal {
    return this.#arrived.signal;
  }

  /** Whether a body is left on the wire that is not worth reading: the connection cannot be used again. */
  get leavesBody(): boolean {
    return this.#arrived.leavesBody;
  }

  header(name: string): string | undefined {
    return this.#arrived.header(name);
  }

  body(limit: number, meter?: BodyMeter): Promise<Uint8Array> {
    if (this.#body === undefined) return this.#arrived.body(limit, meter);
    this.#read ??= this.#body(limit, meter);
    return this.#read;
  }
}
