import type { ProtocolVersionName } from './protocol-versions.js';
import { v1_0Schemas } from './v1_0/wire-schemas.js';
import type { WireSchemas } from './wire-schemas.js';

/** What a version reads and writes over each binding. */
export interface ProtocolSchemas {
  readonly jsonRpc: WireSchemas;
  readonly httpJson: WireSchemas;
}

/** The versions that can be described. */
export const PROTOCOL_SCHEMAS: { readonly [Name in ProtocolVersionName]?: ProtocolSchemas } = {
  '1.0': { jsonRpc: v1_0Schemas, httpJson: v1_0Schemas },
};
