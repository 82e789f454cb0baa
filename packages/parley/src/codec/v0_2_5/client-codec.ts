import { oldClientCodec } from '../v0_3/client-codec.js';
import { KINDS } from '../v0_3/dialect.js';
import { operations0_2_5, PROTO_NAMES } from './operations.js';

/** The client codec of 0.2.5 over JSON-RPC. */
export const clientV0_2_5JsonRpc = oldClientCodec({
  version: '0.2',
  dialect: KINDS,
  operations: operations0_2_5(KINDS),
});

/** The client codec of 0.2.5 over HTTP+JSON. */
export const clientV0_2_5HttpJson = oldClientCodec({
  version: '0.2',
  dialect: PROTO_NAMES,
  operations: operations0_2_5(PROTO_NAMES),
});
