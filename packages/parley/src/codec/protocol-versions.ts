import { v0_2_5HttpJson, v0_2_5JsonRpc } from './v0_2_5/wire-codec.js';
import { v0_3HttpJson, v0_3JsonRpc } from './v0_3/wire-codec.js';
import { v1_0 } from './v1_0/wire-codec.js';
import type { WireCodec } from './wire-codec.js';

/** One version of the protocol. Its JSON may differ between the bindings. */
interface ProtocolVersion {
  readonly jsonRpc: WireCodec;
  readonly httpJson: WireCodec;
}

/** The versions that a server can speak, the newest first. Options and documents use these names. */
export const PROTOCOL_VERSIONS = {
  '1.0': { jsonRpc: v1_0, httpJson: v1_0 },
  '0.3': { jsonRpc: v0_3JsonRpc, httpJson: v0_3HttpJson },
  '0.2.5': { jsonRpc: v0_2_5JsonRpc, httpJson: v0_2_5HttpJson },
} as const satisfies Readonly<Record<string, ProtocolVersion>>;

/** The name of a version that a server can speak. */
export type ProtocolVersionName = keyof typeof PROTOCOL_VERSIONS;
