import type { AgentInterface } from '../model/agent-card.js';
import type { StreamResponse } from '../model/stream-response.js';
import type {
  OperationName,
  OperationTypes,
  StreamingOperationName,
  UnaryOperationName,
} from '../operations/operations.js';

/** One call, as a binding sends it. */
export interface TransportCall<Name extends OperationName = OperationName> {
  readonly operation: Name;
  /** The complete request, with the tenant. */
  readonly request: OperationTypes[Name]['request'];
  /** URIs of the extensions to declare (Spec §3.2.6). */
  readonly extensions: readonly string[];
  /** Further headers by lower-case name: service parameters, credentials, trace context. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further query parameters, such as API keys. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Ends the call with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** The id of the last event of a stream, if the call resumes it. */
  readonly lastEventId?: string | undefined;
  /** Called once the agent has begun an event stream, before its first event. */
  readonly opened?: (() => void) | undefined;
}

/** An event as it arrived. */
export interface ReceivedEvent {
  readonly event: StreamResponse;
  /** The id of the frame. */
  readonly id?: string;
}

/** Events in the order of the wire. A batch holds events that arrived together; an empty batch is a keep-alive. */
export type EventBatches = AsyncIterable<readonly ReceivedEvent[], undefined>;

/** A stream that the agent has accepted. */
export interface OpenedStream {
  readonly first: IteratorResult<readonly ReceivedEvent[], undefined>;
  /** The batches after the first. */
  readonly events: AsyncIterator<readonly ReceivedEvent[], undefined>;
}

/** Calls one interface of an agent in one version. Retries, cards and resumption belong to others. */
export interface ClientTransport {
  readonly agentInterface: AgentInterface;
  /**
   * Calls an operation that has one answer.
   * @throws A2AError if the agent answers with an error; ConnectionError if there is no answer; the reason of the
   * signal.
   */
  call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']>;
  /**
   * Opens a stream and returns it with its first batch. Reads from the connection only on demand. Ends when the agent
   * closes the stream, whatever the last event was. Throws as `call` does.
   */
  stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream>;
}

/** Makes the transport of an interface whose binding and version are known. */
export type TransportSource = (agentInterface: AgentInterface) => Promise<ClientTransport>;
