import { KINDS } from '../v0_3/dialect.js';
import { METHODS_0_2 } from '../v0_3/methods.js';
import { ROUTES } from '../v0_3/routes.js';
import { oldCodec } from '../v0_3/wire-codec.js';
import { PROTO_NAMES } from './dialect.js';

/** Version 0.2.5 over JSON-RPC: that of 0.3 without the method for the extended card. */
export const v0_2_5JsonRpc = oldCodec({
  protocolVersion: '0.2.5',
  version: '0.2',
  dialect: KINDS,
  methods: METHODS_0_2,
  routes: [],
});

/** Version 0.2.5 over HTTP+JSON. */
export const v0_2_5HttpJson = oldCodec({
  protocolVersion: '0.2.5',
  version: '0.2',
  dialect: PROTO_NAMES,
  methods: new Map(),
  routes: ROUTES,
});
