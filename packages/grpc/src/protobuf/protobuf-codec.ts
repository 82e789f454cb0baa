import type { A2AError, StreamResponse } from 'parley-a2a';
import type { ErrorWords, OperationName, OperationTypes, UnaryOperationName, WireForm } from 'parley-a2a/binding-kit';
import type { StreamItem } from 'parley-a2a/server';

/** The model in the protobuf messages of one version. Pure: same input, same output. */
export interface ProtobufCodec {
  /** `Major.Minor`. */
  readonly version: string;
  /** The full name of the service, such as `lf.a2a.v1.A2AService`. */
  readonly service: string;
  /** The name of the method in the service → operation. */
  readonly methods: ReadonlyMap<string, OperationName>;
  /**
   * Decodes and validates the request of an operation, with at most `items` objects and items.
   * @throws InvalidParamsError for bytes that are no such message, and for fields at fault; A2AError INVALID_REQUEST
   * for too many items.
   */
  decode<Name extends OperationName>(
    operation: Name,
    bytes: unknown,
    form?: WireForm,
    items?: number,
  ): OperationTypes[Name]['request'];
  /** The response of a unary operation. */
  encode<Name extends UnaryOperationName>(operation: Name, response: OperationTypes[Name]['response']): Uint8Array;
  /**
   * One event of a stream. `withSeq` adds its sequence number, if it has one. Clients that do not know the number skip
   * it.
   */
  encodeEvent(item: StreamItem, withSeq?: boolean): Uint8Array;
  /** The words of an error, if the version has its own. Absent: those of the error. */
  wordsOf?(error: A2AError): ErrorWords;
}

/** An event as a client received it. */
export interface DecodedEvent {
  readonly event: StreamResponse;
  /** The sequence number that the server added. */
  readonly id?: string;
}

/** The client codec for the protobuf messages of one version. */
export interface ProtobufClientCodec extends Pick<ProtobufCodec, 'version' | 'service'> {
  /** The name of the method of an operation; undefined: the version has none. */
  methodOf(operation: OperationName): string | undefined;
  encodeRequest<Name extends OperationName>(operation: Name, request: OperationTypes[Name]['request']): Uint8Array;
  /**
   * The response of a unary operation, with at most `items` objects and items.
   * @throws InvalidAgentResponseError naming the fault.
   */
  decodeResponse<Name extends UnaryOperationName>(
    operation: Name,
    bytes: Uint8Array,
    items?: number,
  ): OperationTypes[Name]['response'];
  /**
   * One event of a stream; undefined for an unknown kind of event, which the client skips.
   * @throws InvalidAgentResponseError naming the fault.
   */
  decodeEvent(bytes: Uint8Array, items?: number): DecodedEvent | undefined;
}
