import type { JsonObject } from '../model/json.js';

/** What every operation takes. */
export interface CallOptions {
  /** Ends the call with the signal's reason. The task goes on: only `cancelTask` cancels. */
  readonly signal?: AbortSignal;
  /** Ends the call with a `TimeoutError` after this time, retries and, for a stream, all of its events included. */
  readonly timeoutMs?: number;
  /** Goes into the metadata of the request, where the operation has some: sending and canceling. */
  readonly metadata?: JsonObject;
  /** URIs of extensions to declare beside those of the client (Spec §3.2.6). */
  readonly extensions?: readonly string[];
  /** Further service parameters, sent as headers. Those with the name of a credential go to trusted origins only. */
  readonly headers?: Readonly<Record<string, string>>;
  /** W3C trace context to pass on, such as the `traceparent` of the request being worked on. */
  readonly traceparent?: string;
}

/** What goes along with a call on the client's side, as interceptors see it. */
export interface ClientCallContext {
  readonly extensions: readonly string[];
  /** By lower-case name. Credentials are not among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The last event seen of the stream that is asked for again. */
  readonly lastEventId?: string | undefined;
}

/** Defaults for every call of a client. */
export type CallDefaults = Pick<CallOptions, 'extensions' | 'headers'>;

/** The context of a call made with these options. */
export function callContext(options: CallOptions, defaults: CallDefaults): ClientCallContext {
  const headers: Record<string, string> = {};
  addLowered(headers, defaults.headers);
  addLowered(headers, options.headers);
  if (options.traceparent !== undefined) headers.traceparent = options.traceparent;
  return { extensions: joined(defaults.extensions, options.extensions), headers, signal: options.signal };
}

function addLowered(headers: Record<string, string>, more: CallOptions['headers']): void {
  for (const name in more) headers[name.toLowerCase()] = more[name] as string;
}

/** Each of them once. */
function joined(one: readonly string[] = [], other: readonly string[] = []): readonly string[] {
  return one.length + other.length === 0 ? one : [...new Set([...one, ...other])];
}
