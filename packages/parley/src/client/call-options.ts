import { OptionsError } from '../errors/options-error.js';
import { meantBy } from '../model/closest-name.js';
import type { JsonObject } from '../model/json.js';
import type { TimeLimit } from './call-deadline.js';

/** Options of every operation. */
export interface CallOptions {
  /** Ends the call with the reason of the signal. The task continues: only `cancelTask` cancels it. */
  readonly signal?: AbortSignal;
  /**
   * Time limit in ms. It includes retries and, for a stream, all events. The call then ends with a `TimeoutError`. gRPC
   * sends the agent the time that is left.
   */
  readonly timeoutMs?: number;
  /** Metadata of the request, for operations that have some: sending and canceling. */
  readonly metadata?: JsonObject;
  /** URIs of extensions to declare, in addition to those of the client (Spec §3.2.6). */
  readonly extensions?: readonly string[];
  /** Further service parameters, sent as headers. Headers named like credentials go to trusted origins only. */
  readonly headers?: Readonly<Record<string, string>>;
  /** W3C trace context to pass on, such as the `traceparent` of the current request. */
  readonly traceparent?: string;
}

/** The context of a call, as client interceptors see it. */
export interface ClientCallContext {
  readonly extensions: readonly string[];
  /** Headers by lower-case name, without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The time limit, if there is one. The signal ends the call with it. */
  readonly timeLimit?: TimeLimit | undefined;
  /** The id of the last event of a stream, if the call resumes it. */
  readonly lastEventId?: string | undefined;
}

/** Defaults for every call of a client. */
export type CallDefaults = Pick<CallOptions, 'extensions' | 'headers'>;

/** Options of every operation, then those that only some operations have. */
const OPTIONS =
  'signal, timeoutMs, metadata, extensions, headers, traceparent, lastEventId, until, pollMs, longestPollMs';
const NAMES = OPTIONS.split(', ');

/**
 * Makes the context of a call from its options and the client's defaults.
 * @throws OptionsError for an unknown option, or a time limit that is no number.
 */
export function clientCallContext(options: CallOptions, defaults: CallDefaults): ClientCallContext {
  for (const name in options)
    if (!NAMES.includes(name))
      throw new OptionsError('Nothing was sent', [
        `unknown option "${name}"${meantBy(name, NAMES)}. Calls have ${OPTIONS}`,
      ]);
  const headers: Record<string, string> = {};
  addLowered(headers, defaults.headers);
  addLowered(headers, options.headers);
  if (options.traceparent !== undefined) headers.traceparent = options.traceparent;
  return { extensions: union(defaults.extensions, options.extensions), headers, signal: options.signal };
}

function addLowered(headers: Record<string, string>, more: CallOptions['headers']): void {
  for (const name in more) headers[name.toLowerCase()] = more[name] as string;
}

/** Joins two lists and drops duplicates. */
function union(one: readonly string[] = [], other: readonly string[] = []): readonly string[] {
  return one.length + other.length === 0 ? one : [...new Set([...one, ...other])];
}
