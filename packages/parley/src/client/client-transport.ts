import type { AgentInterface } from '../model/agent-card.js';
import type { StreamResponse } from '../model/stream-response.js';
import type {
  OperationName,
  OperationTypes,
  StreamingOperationName,
  UnaryOperationName,
} from '../operations/operations.js';

/** One call as a binding sends it. */
export interface TransportCall<Name extends OperationName = OperationName> {
  readonly operation: Name;
  /** Complete, the tenant included. */
  readonly request: OperationTypes[Name]['request'];
  /** URIs the call declares (Spec §3.2.6). */
  readonly extensions: readonly string[];
  /** Further headers by lower-case name: service parameters, credentials, trace context. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further query parameters: keys that a scheme wants there. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Ends the call with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** The last event seen of the stream that is asked for again. */
  readonly lastEventId?: string | undefined;
  /** Told once the agent has begun an event stream, before its first event. */
  readonly opened?: (() => void) | undefined;
}

/** An event as it arrived. */
export interface ReceivedEvent {
  readonly event: StreamResponse;
  /** The id its frame carried. */
  readonly id?: string;
}

/** Events in the order of the wire, those that arrived together in one list; an empty list is a mere sign of life. */
export type EventBatches = AsyncIterable<readonly ReceivedEvent[], undefined>;

/** A stream that the agent has agreed to by its first events. */
export interface OpenedStream {
  readonly first: IteratorResult<readonly ReceivedEvent[], undefined>;
  /** What follows. */
  readonly events: AsyncIterator<readonly ReceivedEvent[], undefined>;
}

/** How a binding calls one interface of an agent in one version. Knows nothing of cards, retries or resumption. */
export interface ClientTransport {
  readonly agentInterface: AgentInterface;
  /**
   * @throws A2AError what the agent answered; ConnectionError where there was no answer; the reason of the signal.
   */
  call<Name extends UnaryOperationName>(call: TransportCall<Name>): Promise<OperationTypes[Name]['response']>;
  /**
   * Opens a stream and gives it with what it brought first. Pulls from the connection only while it is pulled. Ends
   * when the agent closes the stream, whatever the last event was; throws as `call` does.
   */
  stream(call: TransportCall<StreamingOperationName>): Promise<OpenedStream>;
}

/** Makes the transport of an interface whose binding and version are known. */
export type TransportSource = (agentInterface: AgentInterface) => Promise<ClientTransport>;
