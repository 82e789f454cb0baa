import { type Listed, listed } from 'parley-a2a/binding-kit';
import { closed, flag, type OptionSchemas, positive, Type } from 'parley-a2a/kit';
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from '../binding/session-limits.js';

/** The options of `capnwebBinding`. */
export interface CapnwebBindingOptions {
  /**
   * Limits of connections and sessions. The others keep their defaults.
   * @see docs/capnweb.md#limits
   */
  readonly limits?: Partial<SessionLimits>;
  /**
   * False if the path takes no batches over POST. Default true.
   * @see docs/capnweb.md#batches
   */
  readonly batch?: boolean;
  /**
   * The cards that list the interfaces: `public` for all, `extended` for the extended one only, `never` for none.
   * Default: all cards list the interfaces of 1.0. None lists that of 0.3, because clients of 0.3 refuse a card with an
   * unknown transport.
   * @see docs/hosts.md#interfaces-that-a-card-lists
   */
  readonly listed?: Listed;
}

const limits = Object.keys(DEFAULT_SESSION_LIMITS).map((name) => [name, Type.Optional(positive)] as const);

const schemas: OptionSchemas<CapnwebBindingOptions> = {
  limits: Type.Optional(closed(Object.fromEntries(limits))),
  batch: Type.Optional(flag),
  listed,
};

/** The schema of CapnwebBindingOptions. */
export const capnwebBindingSchema = closed(schemas);
