import { type Dialect, PROTO_JSON } from '../v0_3/dialect.js';

/** The protobuf definition of 0.2.5 gave no JSON names, so those of the definition are on the wire. */
export const PROTO_NAMES: Dialect = { ...PROTO_JSON, request: 'request', reply: 'msg', note: 'update' };
