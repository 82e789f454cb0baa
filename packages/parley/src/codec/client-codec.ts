import type { StreamResponse } from '../model/stream-response.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../operations/operations.js';
import type { Route } from './wire-codec.js';

/**
 * The client side of one version: writes requests and reads responses. Pure: same input, same output. If a version
 * writes HTTP+JSON in another form than JSON-RPC, each form has a codec. Reading is tolerant: unknown members, unknown
 * values of enums and missing defaults are accepted. A response is refused only if the client cannot use it.
 */
export interface ClientCodec {
  /** `Major.Minor`. */
  readonly version: string;
  /** The JSON-RPC method of an operation; undefined: the version has none. */
  methodOf(operation: OperationName): string | undefined;
  /**
   * The HTTP+JSON routes of an operation. A client tries them in this order. A codec for JSON-RPC gives the routes of
   * operations for which agents may lack a method. Their paths are relative to the folder of the interface url.
   */
  routesOf(operation: OperationName): readonly Route[];
  /**
   * The request of an operation as a JSON value; the given value is not changed. JSON-RPC sends it as it is. HTTP+JSON
   * takes the members that the route names into the path, puts `tenant` before the path, and sends the rest in body or
   * query.
   */
  encodeRequest<Name extends OperationName>(
    operation: Name,
    request: OperationTypes[Name]['request'],
  ): Readonly<Record<string, unknown>>;
  /**
   * The response of a unary operation. The codec may change the given value. A card stays as received, because its
   * signatures cover that form: `decodeAgentCard` reads it.
   * @throws InvalidAgentResponseError naming the fault.
   */
  decodeResponse<Name extends UnaryOperationName>(operation: Name, value: unknown): OperationTypes[Name]['response'];
  /**
   * One event of a stream; undefined for an unknown kind of event, which the client skips.
   * @throws InvalidAgentResponseError naming the fault.
   */
  decodeEvent(value: unknown): StreamResponse | undefined;
}
