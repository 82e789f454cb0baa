import type { User } from '../../auth/user.js';
import { repeatedFieldError } from '../../errors/standard-errors.js';
import { activeExtensions, parseExtensions, requireExtensions } from '../../operations/extensions.js';
import { OPERATIONS, type OperationName } from '../../operations/operations.js';
import type { RequestAddress } from '../../operations/request-address.js';
import { isLegacy } from '../../operations/versions.js';
import type { ServerCallContext } from '../../server/server-call-context.js';
import type { TraceContext } from '../../telemetry/tracing.js';
import type { ExchangeRequest } from './exchange.js';
import type { Offer } from './offer.js';

const NONE: readonly string[] = Object.freeze([]);
const VERSION = 'A2A-Version';

/**
 * The version that a request names, in the header or in the query parameter of the same name (Spec §3.6.1).
 * @throws InvalidParamsError if it names more than one.
 */
export function askedVersion(request: ExchangeRequest): string | undefined {
  const header = singleValue(VERSION, request.header('a2a-version'));
  const { query } = request;
  // Avoids the parser for queries of other parameters. The name may be percent-encoded.
  if (query === '' || !/version|%/i.test(query)) return header;
  const [parameter, ...others] = [...new URLSearchParams(query)].filter(
    ([name]) => name.toLowerCase() === 'a2a-version',
  );
  const value = parameter?.[1];
  const isOther = header !== undefined && header !== '' && value !== undefined && value !== header;
  if (others.length > 0 || isOther) throw repeatedFieldError(VERSION);
  return header === undefined || header === '' ? value : header;
}

/**
 * A service parameter that is no list. Hosts join its lines by a comma.
 * @throws InvalidParamsError if it came in several lines.
 */
export function singleValue(name: string, value: string | undefined): string | undefined {
  if (value?.includes(',')) throw repeatedFieldError(name);
  return value;
}

/** The parts of a context. */
interface CallContextOptions {
  readonly request: ExchangeRequest;
  readonly operation: OperationName;
  readonly address: RequestAddress;
  readonly version: string;
  readonly offer: Pick<Offer, 'extensions' | 'requiresExtension'>;
  /** Names the caller in limits. */
  readonly caller?: string | undefined;
  /** Releases the memory of the body. Absent: it is not counted. */
  readonly takenIn?: (() => void) | undefined;
}

/** The context of a call over HTTP. */
export class HttpCallContext implements ServerCallContext {
  static readonly #signal: PropertyDescriptor & ThisType<HttpCallContext> = {
    get() {
      return this.#request.signal;
    },
    enumerable: true,
    configurable: true,
  };
  readonly version: string;
  readonly extensions: readonly string[];
  declare readonly signal: AbortSignal;
  declare user?: User;
  declare caller?: string;
  declare taskId?: string;
  declare contextId?: string;
  declare traceparent?: string | undefined;
  declare tracestate?: string | undefined;
  declare baggage?: string | undefined;
  declare lastEventId?: string;
  declare takenIn?: () => void;
  readonly #request: ExchangeRequest;

  /** @throws ExtensionSupportRequiredError if the request does not declare an extension that the card requires. */
  constructor({ request, operation, address, version, offer, caller, takenIn }: CallContextOptions) {
    this.version = version;
    this.extensions = offer.extensions.length === 0 ? NONE : extensionsOf(request, operation, offer);
    this.#request = request;
    // A getter on the object itself, so that a copy made with `...context` keeps the signal. All contexts share one
    // function: V8 keeps a getter made for one object, and with it the request, until a full garbage collection.
    Object.defineProperty(this, 'signal', HttpCallContext.#signal);
    if (request.user !== undefined) this.user = request.user;
    if (caller !== undefined) this.caller = caller;
    if (address.taskId !== undefined) this.taskId = address.taskId;
    if (address.contextId !== undefined) this.contextId = address.contextId;
    const traceparent = request.header('traceparent');
    if (traceparent !== undefined) this.#addTrace(traceparent);
    const lastEventId = singleValue('Last-Event-ID', request.header('last-event-id'));
    if (lastEventId !== undefined && OPERATIONS[operation].streaming) this.lastEventId = lastEventId;
    if (takenIn !== undefined) this.takenIn = takenIn;
  }

  #addTrace(traceparent: string): void {
    this.traceparent = traceparent;
    const tracestate = this.#request.header('tracestate');
    if (tracestate !== undefined) this.tracestate = tracestate;
    const baggage = this.#request.header('baggage');
    if (baggage !== undefined) this.baggage = baggage;
  }

  /** Passes a trace context on. The id of its trace is that of the request, unless the request brought one. */
  enterTrace({ traceparent, tracestate, baggage }: TraceContext, traceId: string | undefined): void {
    this.traceparent = traceparent;
    if (this.tracestate !== tracestate) this.tracestate = tracestate;
    if (this.baggage !== baggage) this.baggage = baggage;
    if (traceId === undefined) return;
    const request = this.#request;
    request.traceId = traceId;
    if (request.hasOwnId !== true) request.requestId = traceId;
  }
}

/**
 * Gives a call the trace context to pass on, and the id of the trace of its span. False for a call that no request over
 * HTTP has brought.
 */
export function enterTrace(context: ServerCallContext, trace: TraceContext, traceId?: string): boolean {
  const { enterTrace } = context as Partial<HttpCallContext>;
  // No `instanceof`: the context may be one of another copy of the library. `parley serve` has this one in a bundle.
  if (typeof enterTrace !== 'function') return false;
  enterTrace.call(context, trace, traceId);
  return true;
}

/** The extensions of the card that a call activates. */
function extensionsOf(
  request: ExchangeRequest,
  operation: OperationName,
  { extensions, requiresExtension }: CallContextOptions['offer'],
): readonly string[] {
  const current = request.header('a2a-extensions');
  const legacy = request.header('x-a2a-extensions');
  if (current === undefined && legacy === undefined && !requiresExtension) return NONE;
  const asked = parseExtensions(legacy === undefined ? current : `${current ?? ''},${legacy}`);
  requireExtensions(operation, asked, extensions);
  return activeExtensions(asked, extensions);
}

/** Adds the header that names the activated extensions, in the spelling of the version (Spec §4.6, §3.2.6). */
export function withExtensions(
  headers: Readonly<Record<string, string>>,
  { version, extensions }: ServerCallContext,
): Readonly<Record<string, string>> {
  if (extensions.length === 0) return headers;
  return { ...headers, [isLegacy(version) ? 'x-a2a-extensions' : 'a2a-extensions']: extensions.join(', ') };
}
