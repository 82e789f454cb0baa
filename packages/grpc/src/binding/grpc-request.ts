import type { BodyMeter, ClientCertificate, DirectCall } from 'parley-a2a/binding-kit';
import type { ExchangeRequest } from 'parley-a2a/server';

/** The stream of a call, as the server provides it. */
export interface GrpcSource {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly peer: string | undefined;
  readonly clientCertificate: ClientCertificate | undefined;
  /** Made at its first use. */
  readonly signal: AbortSignal;
  /** Reads the message, if it had not arrived when the call began. */
  readMessage(limit: number, meter?: BodyMeter): Promise<Uint8Array>;
}

/**
 * A call in the form of a request for the middlewares of a host. Everything is read from its stream when it is first
 * used.
 */
export class GrpcRequest implements ExchangeRequest {
  readonly method = 'POST';
  readonly query = '';
  readonly path: string;
  readonly call: DirectCall | undefined;
  user: ExchangeRequest['user'] = undefined;
  onCredentialEnd: ExchangeRequest['onCredentialEnd'] = undefined;
  requestId: string | undefined = undefined;
  readonly #source: GrpcSource;

  /** Without a call the request asks only whether its caller is admitted. */
  constructor(source: GrpcSource, path: string, call?: DirectCall) {
    this.#source = source;
    this.path = path;
    this.call = call;
  }

  get peer(): string | undefined {
    return this.#source.peer;
  }

  get clientCertificate(): ClientCertificate | undefined {
    return this.#source.clientCertificate;
  }

  get signal(): AbortSignal {
    return this.#source.signal;
  }

  header(name: string): string | undefined {
    const { headers } = this.#source;
    // RFC 9113 §8.3.1: the authority replaces `Host`.
    const value = name === 'host' ? (headers[':authority'] ?? headers.host) : headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  headerLines(name: string): number {
    const { rawHeaders } = this.#source;
    let lines = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at] === name) lines++;
    return lines;
  }

  body(limit: number, meter?: BodyMeter): Promise<Uint8Array> {
    return this.#source.readMessage(limit, meter);
  }
}
