import type { ClientCertificate } from '../../auth/client-certificate.js';
import type { BodyMeter } from '../../bindings/http/body-budget.js';
import type { ExchangeRequest } from '../../bindings/http/exchange.js';
import type { NodeExchangeRequest } from './node-exchange-request.js';

/** The facts of a request that a framework on node:http provides. */
interface Mounting {
  readonly arrived: NodeExchangeRequest;
  /** The path under which the framework has put the exchange; "" at the root. */
  readonly mount: string;
  /** The rest of the path, without the query. */
  readonly path: string;
  /** Reads the body from somewhere else than the connection. */
  readonly body?: ExchangeRequest['body'] | undefined;
  /** Reads the same bytes as a stream. Absent beside `body`: a body parser has changed them. */
  readonly chunks?: ExchangeRequest['chunks'];
}

/** A request from a framework on node:http, for an exchange below its root. */
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

  /** True if an unread body is too large to drain, so that the connection cannot be reused. */
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
