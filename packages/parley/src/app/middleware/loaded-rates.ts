import type { Exchange } from '../../bindings/http/exchange.js';
import { refusedPlain } from '../json-answer.js';
import type { RatedAgent, RateLimits, RefusalOf } from '../limits/rate-limits.js';
import { onDemand } from './on-demand.js';

/** Loads the limits of rates once. A server without rates does not load their code. */
export type LoadRates = () => Promise<RateLimits>;

interface LimitedPlace {
  readonly refusalOf?: RefusalOf | undefined;
  readonly agent?: RatedAgent | undefined;
}

const plain: RefusalOf = () => refusedPlain;

/** The middleware of one limit. Requests wait until its code is loaded. */
export function limitWhenLoaded(
  load: LoadRates,
  limit: 'byAddress' | 'byPrincipal',
): (next: Exchange, place: LimitedPlace) => Exchange {
  return (next, { refusalOf = plain, agent }) => onDemand(async () => (await load())[limit](next, refusalOf, agent));
}
