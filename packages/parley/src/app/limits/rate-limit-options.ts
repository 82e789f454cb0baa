import { eitherOf, type OptionSchemas, optionObject, withMethod } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';
import { refuseArgument } from '../../options/refuse-argument.js';
import type { Rate, RateLimiter } from './rate-limiter.js';

/**
 * The rates of a host. `requests` and `windowMs` are the rate of each address and of each principal, unless
 * `perAddress` or `perPrincipal` says another one.
 */
export interface RateLimitOptions extends Partial<Rate> {
  /** The rate of one client address, before any credential is checked; `false` for none. */
  readonly perAddress?: Rate | false;
  /** The rate of one user, or of one address of anonymous callers; `false` for none. */
  readonly perPrincipal?: Rate | false;
  /** Most addresses and principals in memory; default 100,000. */
  readonly keys?: number;
  /**
   * Counts requests in another place. Default: for all processes on a storage in PostgreSQL or Redis, else in memory.
   */
  readonly limiter?: RateLimiter;
}

/** The default of `keys`, for up to 20 MB. */
export const DEFAULT_RATE_KEYS = 100_000;

const requests = Type.Integer({ minimum: 1 });
const windowMs = Type.Integer({ minimum: 1, maximum: 86_400_000 });

/** The schema of a rate, or `false` for none. */
export const optionalRateSchema = eitherOf(
  [Type.Literal(false), optionObject({ requests, windowMs })],
  'must be { requests, windowMs } or false',
);

const members: OptionSchemas<RateLimitOptions> = {
  requests: Type.Optional(requests),
  windowMs: Type.Optional(windowMs),
  perAddress: Type.Optional(optionalRateSchema),
  perPrincipal: Type.Optional(optionalRateSchema),
  keys: Type.Optional(Type.Integer({ minimum: 2 })),
  limiter: Type.Optional(withMethod('take')),
};

/** The schema of RateLimitOptions. */
export const rateLimitSchema = Type.Refine(
  Type.Refine(
    optionObject(members),
    (value: RateLimitOptions) => (value.requests === undefined) === (value.windowMs === undefined),
    () => 'needs both requests and windowMs',
  ),
  (value: RateLimitOptions) => (value.requests ?? value.perAddress ?? value.perPrincipal) !== undefined,
  () => 'needs requests and windowMs, perAddress or perPrincipal',
);

function isRate(value: unknown): value is Rate {
  if (typeof value !== 'object' || value === null) return false;
  const { requests: count, windowMs: ms, ...others } = value as Partial<Rate>;
  const isValid = Number.isInteger(count) && Number(count) >= 1 && Number(ms) >= 1 && Number(ms) <= 86_400_000;
  return isValid && Object.keys(others).length === 0;
}

/** The rates by the options; `undefined` for none. */
export function ratesOf({ requests, windowMs, perAddress, perPrincipal }: RateLimitOptions): {
  readonly perAddress: Rate | undefined;
  readonly perPrincipal: Rate | undefined;
} {
  const both = requests === undefined || windowMs === undefined ? undefined : { requests, windowMs };
  return { perAddress: (perAddress ?? both) || undefined, perPrincipal: (perPrincipal ?? both) || undefined };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A rate such as `100/60s`, `10/s` or `5000/1h`; `undefined` for any other text. */
export function parseRate(text: string): Rate | undefined {
  if (typeof text !== 'string') refuseArgument('parseRate', 'a text such as 100/60s', text);
  const [, count, length = '1', unit = ''] = /^(\d{1,9})\/(\d{1,8})?(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const rate = { requests: Number(count), windowMs: Number(length) * (UNITS[unit] ?? Number.NaN) };
  return isRate(rate) ? rate : undefined;
}
