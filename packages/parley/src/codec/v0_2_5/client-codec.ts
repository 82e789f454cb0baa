import { oldClientCodec } from '../v0_3/client-codec.js';
import { KINDS } from '../v0_3/dialect.js';
import { PROTO_NAMES } from './dialect.js';

/** The client's half of 0.2.5 over JSON-RPC. */
export const clientV0_2_5JsonRpc = oldClientCodec('0.2', KINDS);

/** The client's half of 0.2.5 over HTTP+JSON. */
export const clientV0_2_5HttpJson = oldClientCodec('0.2', PROTO_NAMES);
