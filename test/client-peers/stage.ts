import type { Client } from 'parley-a2a/client';
import type { Fault, Peer } from './peers.js';

/** The bindings of the matrix. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const;

/** The stage of the scenarios, available once the tests run. */
export interface Stage {
  readonly peer: Peer;
  readonly binding: (typeof BINDINGS)[number];
  readonly client: Client;
}

/** True if the server has this fault over this binding. */
export function hasFault({ peer, binding }: Pick<Stage, 'peer' | 'binding'>, fault: Fault): boolean {
  if (fault === 'breaks off refused streams' && binding !== 'HTTP+JSON') return false;
  return peer.faults?.includes(fault) === true;
}
