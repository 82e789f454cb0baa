import { UnsupportedOperationError } from '../errors/spec-errors.js';
import type { AgentCard, AgentInterface } from '../model/agent-card.js';
import type { StreamResponse } from '../model/stream-response.js';
import type {
  OperationName,
  OperationTypes,
  StreamingOperationName,
  UnaryOperationName,
} from '../operations/operations.js';
import type { TurnBudget } from '../runtime/turn-budget.js';
import type { TimeLimit } from './call-deadline.js';

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
  /** The time limit, for a binding that tells it to the agent. The signal ends the call with it. */
  readonly timeLimit?: TimeLimit | undefined;
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

/** Calls one interface of an agent in one version. Retries, cards and resumption happen in the layers above. */
export interface ClientTransport {
  readonly agentInterface: AgentInterface;
  /** The address as a url of http or https, if the interface has another form. It decides over credentials. */
  readonly address?: string;
  /** True if streams declare the extension for resumption, so that the agent numbers its events. */
  readonly declaresResumption?: boolean;
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
  /** Ends the connections that the transport keeps between calls. Absent: it keeps none. */
  close?(): void;
}

/** The version of an interface lacks the operation, so that the call was not sent. */
export class MissingOperationError extends UnsupportedOperationError {
  constructor({ protocolVersion }: AgentInterface, operation: OperationName, binding: string) {
    super(`Version ${protocolVersion} has no ${operation} over ${binding}`);
  }
}

/** The address of a transport as a url. */
export function addressOf({ address, agentInterface }: ClientTransport): string {
  return address ?? agentInterface.url;
}

/** A binding that a client speaks beside JSON-RPC and HTTP+JSON, such as gRPC. */
export interface ClientBinding {
  /** True if it finds lost connections itself. Its streams then need no keep-alives, and have no limit of silence. */
  readonly findsLostConnections?: boolean;
  /** True if some servers show only with the first event that a stream is open. */
  readonly opensStreamsLate?: boolean;
  /** True if it speaks the binding and the version of an interface (`Major.Minor`), and can call its address. */
  speaks(agentInterface: AgentInterface): boolean;
  /** Makes the transport of an interface that it speaks. */
  transport(agentInterface: AgentInterface, limits: TransportLimits): Promise<ClientTransport>;
}

/** The limits of answers. */
export interface TransportLimits {
  /** The longest answer, in bytes. */
  readonly answerBytes: number;
  /** The longest event of a stream, in characters. */
  readonly eventBytes: number;
  /** The most members and elements of an answer or an event. */
  readonly answerItems: number;
  /** Time per turn of the event loop for reading streams. All clients of the process share it. */
  readonly turn: TurnBudget;
  /** True if the caller trusts the host of a url, on any port. Other hosts must be public. */
  readonly isTrusted: (url: string) => boolean;
  /** True if the caller itself named a private address. Hosts that are not trusted may then be private, too. */
  readonly isInside: () => Promise<boolean>;
  /** The security schemes of the card, for bindings that name the scheme of a credential. */
  readonly securitySchemes: AgentCard['securitySchemes'];
}

/** Makes the transport of an interface whose binding and version are known. */
export type TransportSource = (agentInterface: AgentInterface) => Promise<ClientTransport>;
