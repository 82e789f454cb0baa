import { KINDS } from '../v0_3/dialect.js';
import { oldCodec } from '../v0_3/wire-codec.js';
import { operations0_2_5, PROTO_NAMES } from './operations.js';

const VERSION = { protocolVersion: '0.2.5', version: '0.2' } as const;

/** Version 0.2.5 over JSON-RPC. */
export const v0_2_5JsonRpc = oldCodec({ ...VERSION, dialect: KINDS, operations: operations0_2_5(KINDS) });

/** Version 0.2.5 over HTTP+JSON. */
export const v0_2_5HttpJson = oldCodec({ ...VERSION, dialect: PROTO_NAMES, operations: operations0_2_5(PROTO_NAMES) });
