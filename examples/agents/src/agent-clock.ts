import { setTimeout as delay } from 'node:timers/promises';

/** Time for the example agents. Tests pass their own clock and wait for nothing. */
export interface AgentClock {
  /** Wall-clock time. */
  now(): Date;
  /** Resolves to true after `ms`, or to false as soon as the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<boolean>;
}

/** The clock of the machine. */
export const systemClock: AgentClock = {
  now: () => new Date(),
  pause: (ms, signal) => delay(ms, true, { signal }).catch(() => false),
};
