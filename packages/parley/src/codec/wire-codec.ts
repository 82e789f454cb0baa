import type { A2AError } from '../errors/a2a-error.js';
import type { AgentCard } from '../model/agent-card.js';
import type { Task } from '../model/task.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../operations/operations.js';
import type { StreamItem } from '../task/stream-item.js';

/** One HTTP+JSON route (Spec §5.3). */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * Path segments below the interface url. `{name}` takes one whole decoded segment into the request member `name`. A
   * last segment may end in a literal verb: `{id}:cancel`.
   */
  readonly path: readonly string[];
  /** The role of the body: it carries the members that the path does not. `optional`: the body may be empty. */
  readonly body: 'none' | 'optional' | 'required';
}

/** A route of a version, with the operation that it calls. */
export interface WireRoute extends Route {
  readonly operation: OperationName;
}

/** The form of received values: `json` has types, `text` has only the strings of a path or a query. */
export type WireForm = 'json' | 'text';

/** The reason and the message of an error in one version. */
export interface ErrorWords {
  /** Stable, for programs: `reason` of an ErrorInfo. */
  readonly reason: string;
  readonly message: string;
}

/**
 * The body of push notifications: each event as in a stream (Spec §4.3.3), or a snapshot of the task after the event.
 */
interface NotificationForm {
  readonly mediaType: string;
  /** The task as JSON. Absent: the body is an event. */
  readonly encodeTask?: (task: Task) => string;
}

/**
 * The model on the wire of one version: names and shapes. Pure: same input, same output. Bindings know versions only
 * through this interface.
 */
export interface WireCodec {
  /** `Major.Minor`. */
  readonly version: string;
  /** JSON-RPC method name → operation. */
  readonly methods: ReadonlyMap<string, OperationName>;
  readonly routes: readonly WireRoute[];
  /**
   * Decodes and validates the request of an operation. The codec may change the given value. `items` is the maximum
   * number of objects and list items in a binary message.
   * @throws InvalidParamsError naming every field at fault.
   */
  decode<Name extends OperationName>(
    operation: Name,
    value: unknown,
    form?: WireForm,
    items?: number,
  ): OperationTypes[Name]['request'];
  /** The response of a unary operation as JSON. */
  encode<Name extends UnaryOperationName>(operation: Name, response: OperationTypes[Name]['response']): string;
  /** One event of a stream as JSON. */
  encodeEvent(item: StreamItem): string;
  /** The body of a push notification. */
  readonly notification: NotificationForm;
  /** An agent card as JSON. */
  encodeCard(card: AgentCard): string;
  /**
   * True if clients of this version read only an event stream as the answer to a streaming call. An error before the
   * first event is then a frame.
   */
  readonly framesErrors?: boolean;
  /** The words of an error, if the version has its own. Absent: those of the error. */
  wordsOf?(error: A2AError): ErrorWords;
}
