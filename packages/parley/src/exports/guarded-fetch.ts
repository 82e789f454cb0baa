import { checkedConnections } from '../adapters/node/checked-connections.js';
import type { BodyBounds } from '../net/bounded-body.js';
import type { DocumentFetch } from '../net/bounded-fetch.js';
import type { DestinationOptions } from '../net/destinations.js';
import { guardedFetch as fetchOf } from '../net/guarded-fetch.js';
import { checkOptions } from '../options/check-options.js';
import { custom, type OptionSchemas, optionObject, texts } from '../options/option-schemas.js';
import * as Type from '../options/option-types.js';
import { callerClock } from './runtime.js';

/** Options of `guardedFetch`. */
export interface GuardedFetchOptions extends DestinationOptions, Partial<BodyBounds> {}

/** Infinity stands for no limit. */
const limit = custom((value) => typeof value === 'number' && value > 0, 'must be a number above 0');
const schemas: OptionSchemas<GuardedFetchOptions> = {
  allow: Type.Optional(texts),
  only: Type.Optional(texts),
  bytes: Type.Optional(limit),
  ms: Type.Optional(limit),
};
const guardedFetchSchema = optionObject(schemas);

/** True if this host can check the address of a connection. Without that, `guardedFetch` calls only allowed names. */
export function canCheckAddresses(): boolean {
  return checkedConnections() !== undefined;
}

/**
 * A `fetch` for untrusted urls. It calls only public addresses and those of `allow`, follows up to three redirects of a
 * GET, and sends no credentials across origins. On Node.js it checks the address of each connection. Other hosts
 * cannot, so there it calls only names in `allow`, and urls with an allowed IP address instead of a name.
 * @throws OptionsError naming every entry of `allow` and `only` that is no destination.
 */
export function guardedFetch(options: GuardedFetchOptions = {}): DocumentFetch {
  checkOptions({ subject: 'guardedFetch', schema: guardedFetchSchema, options });
  return fetchOf({
    ...options,
    clock: callerClock,
    connections: checkedConnections(),
    uncheckedFetch: (url, init) => fetch(url, init),
  });
}
