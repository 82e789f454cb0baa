import type { A2AError } from '../errors/a2a-error.js';
import type { AgentCard } from '../model/agent-card.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../operations/operations.js';
import type { StreamItem } from '../task/stream-item.js';

/** One HTTP+JSON route (Spec §5.3). */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * Path segments below the interface url; `{name}` takes one whole decoded segment into the request member `name`.
   * A last segment may end in a literal verb: `{id}:cancel`.
   */
  readonly path: readonly string[];
  /** Whether the request body carries the rest of the request. `optional`: an empty body is fine. */
  readonly body: 'none' | 'optional' | 'required';
}

/** A route of a version, with the operation that it calls. */
export interface WireRoute extends Route {
  readonly operation: OperationName;
}

/** How a value arrived: `json` with its own types, `text` as strings of a path or a query. */
export type WireForm = 'json' | 'text';

/** What an error is called. */
export interface ErrorWords {
  /** Stable, for programs: the `reason` of an ErrorInfo. */
  readonly reason: string;
  readonly message: string;
}

/**
 * The model in the wire form of one protocol version: names, shapes and nothing else. Pure: same input, same output.
 * Bindings know versions only through this interface.
 */
export interface WireCodec {
  /** `Major.Minor`. */
  readonly version: string;
  /** JSON-RPC method name → operation. */
  readonly methods: ReadonlyMap<string, OperationName>;
  readonly routes: readonly WireRoute[];
  /**
   * Parses and validates the request of an operation. The value given is handed over: the codec may change it.
   * @throws InvalidParamsError naming every field at fault.
   */
  decode<Name extends OperationName>(operation: Name, value: unknown, form?: WireForm): OperationTypes[Name]['request'];
  /** The response of a unary operation as JSON. */
  encode<Name extends UnaryOperationName>(operation: Name, response: OperationTypes[Name]['response']): string;
  /** One event of a stream as JSON. */
  encodeEvent(item: StreamItem): string;
  /** An agent card as JSON. */
  encodeCard(card: AgentCard): string;
  /**
   * Clients of this version read the answer to a streaming call as an event stream only: an error before its first
   * event is a frame of one.
   */
  readonly framesErrors?: boolean;
  /** The words of an error in a version that has others; absent: those of the error itself. */
  wordsOf?(error: A2AError): ErrorWords;
}
