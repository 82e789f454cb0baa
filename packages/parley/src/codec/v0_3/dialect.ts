/**
 * Version 0.3 writes the same objects in two ways. JSON-RPC marks objects with a member `kind`. HTTP+JSON uses
 * ProtoJSON of the protobuf definition of that time, which has other member names. In 0.2.5 that definition had no JSON
 * names.
 */
export interface Dialect {
  /** True if objects have a member `kind`. */
  readonly kinds: boolean;
  /** The member of a request that holds its message. */
  readonly request: 'message' | 'request';
  /** The member of an answer or a stream event that holds a message. */
  readonly reply: 'message' | 'msg';
  /** The member of a status that holds its message. */
  readonly note: 'message' | 'update';
}

/** The JSON of JSON-RPC, the same in 0.2.5. */
export const KINDS: Dialect = { kinds: true, request: 'message', reply: 'message', note: 'message' };

/** The JSON of HTTP+JSON. */
export const PROTO_JSON: Dialect = { ...KINDS, kinds: false };
