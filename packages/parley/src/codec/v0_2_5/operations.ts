import { type Dialect, PROTO_JSON } from '../v0_3/dialect.js';
import { type OldOperations, operations0_3 } from '../v0_3/operations.js';

/** The protobuf definition of 0.2.5 has no JSON names: its own names are on the wire. */
export const PROTO_NAMES: Dialect = { ...PROTO_JSON, request: 'request', reply: 'msg', note: 'update' };

/** The operations of 0.2.5. They are those of 0.3, but the extended card has a route and no method. */
export function operations0_2_5(dialect: Dialect): OldOperations {
  const operations = operations0_3(dialect, '0.2.5');
  const { getExtendedAgentCard } = operations;
  return { ...operations, getExtendedAgentCard: getExtendedAgentCard && { ...getExtendedAgentCard, methods: [] } };
}
