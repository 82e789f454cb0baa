import type { Exchange } from '../../bindings/http/exchange.js';
import { refusedPlain } from '../json-answer.js';
import type { RateLimits, RefusalOf } from '../limits/rate-limits.js';
import { onDemand } from './on-demand.js';

/** Loads the limits of rates once. A server without rates does not load their code. */
export type LoadRates = () => Promise<RateLimits>;

const plain: RefusalOf = () => refusedPlain;

/** The middleware of one limit. Requests wait until its code is loaded. */
export function limitedWhenLoaded(
  load: LoadRates,
  limit: 'byAddress' | 'byPrincipal',
): (next: Exchange, place: { readonly refusalOf?: RefusalOf | undefined }) => Exchange {
  return (next, { refusalOf = plain }) => onDemand(async () => (await load())[limit](next, refusalOf));
}
