import type { AgentCard } from '../model/agent-card.js';
import type { StreamResponse } from '../model/stream-response.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../operations/operations.js';
import type { Route } from './wire-codec.js';

/**
 * The client's half of a version: the model in the wire form of requests, and answers as the model. Pure: same input, same output. A
 * version whose HTTP+JSON form differs from its JSON-RPC form has one for each. Readers are tolerant: unknown members, unknown values of
 * enums and missing defaults are taken as they are; only what makes an answer useless is refused.
 */
export interface ClientCodec {
  /** `Major.Minor`. */
  readonly version: string;
  /** The JSON-RPC method of an operation; undefined: the version has none. */
  methodOf(operation: OperationName): string | undefined;
  /**
   * The HTTP+JSON routes of an operation; a client tries the first at first. A codec for JSON-RPC gives the routes of operations for
   * which agents may lack a method; their paths are relative to the folder of the interface url.
   */
  routesOf(operation: OperationName): readonly Route[];
  /**
   * The request of an operation as a JSON value: JSON-RPC sends it as it is; HTTP+JSON takes from it by name what its route has in the path,
   * sends the rest in the body or the query, and puts a member `tenant` before the path. The value given is left alone.
   */
  encodeRequest<Name extends OperationName>(
    operation: Name,
    request: OperationTypes[Name]['request'],
  ): Readonly<Record<string, unknown>>;
  /**
   * The response of a unary operation; the value is handed over.
   * @throws InvalidAgentResponseError naming what is wrong.
   */
  decodeResponse<Name extends UnaryOperationName>(operation: Name, value: unknown): OperationTypes[Name]['response'];
  /**
   * One event of a stream; undefined for a kind of event that this version does not know, which is to be skipped.
   * @throws InvalidAgentResponseError
   */
  decodeEvent(value: unknown): StreamResponse | undefined;
  /**
   * An agent card.
   * @throws InvalidAgentResponseError
   */
  decodeCard(value: unknown): AgentCard;
}
