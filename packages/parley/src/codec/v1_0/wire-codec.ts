import type { WireCodec } from '../wire-codec.js';
import { decodeRequest } from './decode.js';
import { METHODS } from './methods.js';
import { ROUTES } from './routes.js';

/** Version 1.0: the model is its JSON form, so nothing is converted that already has it. */
export const v1_0: WireCodec = {
  version: '1.0',
  methods: METHODS,
  routes: ROUTES,
  decode: decodeRequest,
  // Deleting answers with nothing, which on this wire is an empty object.
  encode: (_operation, response) => (response === undefined ? '{}' : JSON.stringify(response)),
  encodeEvent: (item) => item.text ?? JSON.stringify(item.event),
  encodeCard: (card) => JSON.stringify(card),
};
