import type { ProtocolVersionName } from './protocol-versions.js';
import { PROTO_NAMES } from './v0_2_5/operations.js';
import { KINDS, PROTO_JSON } from './v0_3/dialect.js';
import { oldSchemas } from './v0_3/wire-schemas.js';
import { v1_0Schemas } from './v1_0/wire-schemas.js';
import type { WireSchemas } from './wire-schemas.js';

/** The schemas of one version over each binding. */
interface ProtocolSchemas {
  readonly jsonRpc: WireSchemas;
  readonly httpJson: WireSchemas;
}

const kinds = oldSchemas(KINDS, 'v0.');

/** The schemas of all versions that a server can speak. */
export const PROTOCOL_SCHEMAS: { readonly [Name in ProtocolVersionName]: ProtocolSchemas } = {
  '1.0': { jsonRpc: v1_0Schemas, httpJson: v1_0Schemas },
  '0.3': { jsonRpc: kinds, httpJson: oldSchemas(PROTO_JSON, 'v0.3.proto.') },
  '0.2.5': { jsonRpc: kinds, httpJson: oldSchemas(PROTO_NAMES, 'v0.2.proto.') },
};
