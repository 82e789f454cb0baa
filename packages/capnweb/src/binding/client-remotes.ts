import type { OperationName } from 'parley-a2a/binding-kit';
import type { InBandCredential } from './in-band-credential.js';

/** The result of a call of a capability: a promise that can be disposed. */
export type Remote<T> = PromiseLike<T> & Disposable;

/** The first message of a session: parameters, tenant and credential. */
export interface Hello {
  /** Service parameters (Spec §3.2.6). */
  readonly parameters: Readonly<Record<string, string>>;
  readonly tenant?: string;
  readonly credential?: InBandCredential;
}

/** Options of a call. */
export interface RemoteCallOptions {
  /** Service parameters of this call. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The capability of a client before it authenticates. */
export interface RemoteEntrance {
  getAgentCard(): Remote<unknown>;
  ping(): Remote<unknown>;
  authenticate(hello: Hello): RemoteAgent & Remote<unknown>;
}

type RemoteOperation = (request: unknown, options?: RemoteCallOptions) => Remote<unknown>;

/** The capability of one principal. */
export interface RemoteAgent extends Readonly<Record<OperationName, RemoteOperation>>, Disposable {
  task(id: unknown): RemoteTask & Remote<unknown>;
  renew(credential: InBandCredential): Remote<unknown>;
  ping(): Remote<unknown>;
}

/** The capability of one task. */
export interface RemoteTask extends Disposable {
  get(options?: { readonly historyLength?: number }): Remote<unknown>;
  cancel(): Remote<unknown>;
  send(message: unknown): Remote<unknown>;
  subscribe(options?: { readonly after?: number }): Remote<unknown>;
  watch(sink: (items: readonly unknown[]) => unknown, options?: { readonly after?: number }): Remote<unknown>;
  view(): RemoteTask & Remote<unknown>;
}

/** Events, and the right to end them. */
export interface RemoteFeed extends Disposable {
  readonly events: ReadableStream<unknown>;
  readonly subscription?: RemoteSubscription;
}

/** The right to end a feed or a watch. */
interface RemoteSubscription extends Disposable {
  close(): Remote<unknown>;
}
