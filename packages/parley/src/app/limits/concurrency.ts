import { type OptionSchemas, optionObject } from '../../options/option-schemas.js';
import * as Type from '../../options/option-types.js';

/** Work that goes on at the same time in one process. More of it is refused. */
export interface ConcurrencyLimits {
  /** Open streams of one caller. */
  readonly streamsPerCaller: number;
  /** Open streams of all callers. */
  readonly streams: number;
  /** Running turns of one caller, over all agents. */
  readonly turnsPerCaller: number;
  /** Running turns of all callers. */
  readonly turns: number;
}

/** The default concurrency of a host. */
export const DEFAULT_CONCURRENCY: ConcurrencyLimits = {
  streamsPerCaller: 64,
  streams: 10_000,
  turnsPerCaller: 32,
  turns: 10_000,
};

const places = Type.Optional(Type.Integer({ minimum: 1 }));
const members: OptionSchemas<ConcurrencyLimits> = {
  streamsPerCaller: places,
  streams: places,
  turnsPerCaller: places,
  turns: places,
};

/** The schema of concurrency limits. */
export const concurrencySchema = optionObject(members);
