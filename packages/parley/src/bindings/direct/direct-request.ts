import type { ClientCertificate } from '../../auth/client-certificate.js';
import type { User } from '../../auth/user.js';
import type { ExchangeRequest } from '../http/exchange.js';
import type { DirectCall } from './direct-call.js';

/** The parts of a `DirectRequest`. */
interface DirectRequestOptions {
  /** The name of the endpoint in records and logs, such as the path of a gRPC method. */
  readonly path: string;
  /** Credentials that belong in a query, without `?`. Default: none. */
  readonly query?: string | undefined;
  /** A service parameter or a credential, by its lower-case name (Spec §3.2.6). */
  readonly header: (name: string) => string | undefined;
  /** The number of values under a name. Absent: the host does not know it. */
  readonly headerLines?: ((name: string) => number) | undefined;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  readonly peer?: string | undefined;
  readonly local?: string | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Absent: the request asks only whether its caller is admitted. */
  readonly call?: DirectCall | undefined;
}

const NOTHING = new Uint8Array();

/** A direct call in the form that the middlewares of a host take. */
export class DirectRequest implements ExchangeRequest {
  readonly method = 'POST';
  readonly query: string;
  readonly path: string;
  readonly header: (name: string) => string | undefined;
  readonly headerLines?: (name: string) => number;
  readonly peer: string | undefined;
  readonly local: string | undefined;
  readonly clientCertificate: ClientCertificate | undefined;
  readonly call: DirectCall | undefined;
  user: User | undefined = undefined;
  onCredentialEnd: ((ended: () => void) => () => void) | undefined = undefined;
  requestId: string | undefined = undefined;
  readonly signal: AbortSignal;

  constructor(options: DirectRequestOptions) {
    this.path = options.path;
    this.query = options.query ?? '';
    this.header = options.header;
    if (options.headerLines !== undefined) this.headerLines = options.headerLines;
    this.peer = options.peer;
    this.local = options.local;
    this.clientCertificate = options.clientCertificate;
    this.call = options.call;
    this.signal = options.signal;
  }

  async body(): Promise<Uint8Array> {
    return NOTHING;
  }
}
