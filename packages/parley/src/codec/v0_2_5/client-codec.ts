import { oldClientCodec } from '../v0_3/client-codec.js';
import { KINDS } from '../v0_3/dialect.js';
import { METHODS_0_2 } from '../v0_3/methods.js';
import { EXTENDED_CARD_0_2, ROUTES } from '../v0_3/routes.js';
import { PROTO_NAMES } from './dialect.js';

/** The client's half of 0.2.5 over JSON-RPC, which has no method for the extended card but a route. */
export const clientV0_2_5JsonRpc = oldClientCodec({
  version: '0.2',
  dialect: KINDS,
  methods: METHODS_0_2,
  routes: [EXTENDED_CARD_0_2],
});

/** The client's half of 0.2.5 over HTTP+JSON. */
export const clientV0_2_5HttpJson = oldClientCodec({
  version: '0.2',
  dialect: PROTO_NAMES,
  methods: new Map(),
  routes: ROUTES,
});
