import type { WireCodec } from '../../codec/wire-codec.js';
import type { A2AError } from '../../errors/a2a-error.js';
import type { OperationName, OperationTypes, UnaryOperationName } from '../../operations/operations.js';
import type { ItemSource, StreamItem } from '../../task/stream-item.js';

/**
 * A call of a binding with its own message format, such as gRPC. Its request and its answer are values, not HTTP text.
 */
export interface DirectCall {
  readonly operation: OperationName;
  /** Reads the request, and names the version of the call. */
  readonly decoder: RequestDecoder;
  /** The request as the binding received it. Absent: it is the body, which is read once the caller is admitted. */
  readonly value?: unknown;
  /** True if the caller could have named a version and did not. */
  readonly assumesVersion?: boolean;
}

/** The part of a codec that a call needs before its answer. */
export type RequestDecoder = Pick<WireCodec, 'version' | 'decode'>;

/** The answer to a direct call: a response, the events of a stream, or an error. */
export type DirectAnswer =
  | { readonly kind: 'response'; readonly response: OperationTypes[UnaryOperationName]['response'] }
  | { readonly kind: 'stream'; readonly items: ItemSource & AsyncIterable<StreamItem> }
  | { readonly kind: 'error'; readonly error: A2AError };
