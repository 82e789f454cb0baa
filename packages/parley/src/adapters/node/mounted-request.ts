import type { ClientCertificate } from '../../auth/client-certificate.js';
import type { BodyMeter } from '../../bindings/http/body-budget.js';
import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import type { NodeExchangeRequest } from './node-exchange-request.js';

/** Facts of a framework on node:http about a request. */
interface Mounting {
  readonly arrived: NodeExchangeRequest;
  /** The path under which the framework has put the exchange; "" at the root. */
  readonly mount: string;
  /** The rest of the path, without the query. */
  readonly path: string;
  /** Gives the body where it is not to be read from the connection. */
  readonly body?: ExchangeRequest['body'] | undefined;
  /** Gives the same bytes as they arrive. Absent beside `body`: another reader of the connection has changed them. */
  readonly chunks?: ExchangeRequest['chunks'];
}

/** A request that a framework on node:http hands on from somewhere below its root. */
export class MountedRequest implements ExchangeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly mount: string;
  readonly #arrived: NodeExchangeRequest;
  readonly #body: Mounting['body'];
  readonly #chunks: ExchangeRequest['chunks'];
  #read: Promise<Uint8Array> | undefined;

  constructor({ arrived, mount, path, body, chunks }: Mounting) {
    this.method = arrived.method;
    this.path = path;
    this.query = arrived.query;
    this.mount = mount;
    this.#arrived = arrived;
    this.#body = body;
    this.#chunks = chunks;
  }

  get afterPromises(): ExchangeRequest['afterPromises'] {
    return this.#arrived.afterPromises;
  }

  get peer(): string | undefined {
    return this.#arrived.peer;
  }

  get connection(): object {
    return this.#arrived.connection;
  }

  get local(): string | undefined {
    return this.#arrived.local;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.#arrived.clientCertificate;
  }

  get signal(): AbortSignal {
    return this.#arrived.signal;
  }

  get toldStatus(): number | undefined {
    return this.#arrived.toldStatus;
  }

  /** True if an unread body is too large to drain. The connection cannot be used again. */
  get leavesBody(): boolean {
    return this.#arrived.leavesBody;
  }

  header(name: string): string | undefined {
    return this.#arrived.header(name);
  }

  headerLines(name: string): number {
    return this.#arrived.headerLines(name);
  }

  get chunks(): ExchangeRequest['chunks'] {
    return this.#body === undefined ? () => this.#arrived.chunks() : this.#chunks;
  }

  body(limit: number, meter?: BodyMeter): Promise<Uint8Array> {
    if (this.#body === undefined) return this.#arrived.body(limit, meter);
    this.#read ??= this.#body(limit, meter);
    return this.#read;
  }
}
