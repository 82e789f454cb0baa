import { markdown } from '../report/table.js';
import { replicasNeeded } from './queueing.js';

/** Figures of `npm run bench:cluster` on PostgreSQL, rounded down or up to the careful side. */
export const MEASURED = {
  /** Of one event with 200 bytes of text. */
  walBytesPerEvent: 560,
  storedBytesPerEvent: 510,
  /** Of a task with three events. */
  storedBytesPerTask: 3_300,
} as const;

/** Assumptions: prices in dollars a month, and sizes that are not measured. */
export const ASSUMED = {
  /**
   * Durable events of one primary in a second: a tenth of the measured ones. Turns that write rarely share fewer
   * statements than the streams of the measurement.
   */
  eventsPerSecond: 8_000,
  /** Turns that one replica runs, and its highest utilisation. */
  slots: 2_000,
  utilisation: 0.7,
  /** A renewal of a lease costs the database as much as an event. */
  writesPerRenewal: 1,
  walBytesPerRenewal: 200,
  replicaPrice: 25,
  /** A primary and its standby. */
  shardPrice: 1_000,
  gigabytePrice: 0.1,
} as const;

/** A kind of load. */
export interface Profile {
  readonly title: string;
  /** Of one turn. */
  readonly seconds: number;
  readonly eventsPerSecond: number;
  readonly leaseSeconds: number;
  /** Time for which a finished task is kept. */
  readonly keptDays: number;
}

/** A chat answers within a minute. A research runs for half an hour with few events. */
export const PROFILES: readonly Profile[] = [
  { title: 'chat', seconds: 60, eventsPerSecond: 1, leaseSeconds: 15, keptDays: 30 },
  { title: 'chat, careful', seconds: 60, eventsPerSecond: 0.5, leaseSeconds: 60, keptDays: 1 },
  { title: 'research', seconds: 1_800, eventsPerSecond: 0.1, leaseSeconds: 60, keptDays: 30 },
];

/** The resources for a number of running turns. */
export interface Plan {
  /** Writes to the database in a second: events and renewals. */
  readonly writes: number;
  readonly shards: number;
  readonly replicas: number;
  readonly walBytesPerDay: number;
  /** Event logs for an hour, and finished tasks. */
  readonly storedBytes: number;
  readonly dollarsPerMonth: number;
}

const DAY = 86_400;
const LOG_SECONDS = 3_600;

/** Calculates the resources for running turns. A replica renews each lease three times within its length. */
export function planFor(running: number, profile: Profile): Plan {
  const { seconds, eventsPerSecond, leaseSeconds, keptDays } = profile;
  const events = running * eventsPerSecond;
  const renewals = (running * 3) / leaseSeconds;
  const writes = events + renewals * ASSUMED.writesPerRenewal;
  const shards = Math.ceil(writes / ASSUMED.eventsPerSecond);
  const replicas = replicasNeeded(running, { slots: ASSUMED.slots, most: ASSUMED.utilisation });
  const tasksPerDay = (running / seconds) * DAY;
  const storedBytes =
    events * LOG_SECONDS * MEASURED.storedBytesPerEvent + tasksPerDay * keptDays * MEASURED.storedBytesPerTask;
  // A standby has the same bytes.
  const disk = 2 * (storedBytes / 1e9) * ASSUMED.gigabytePrice;
  return {
    writes,
    shards,
    replicas,
    walBytesPerDay: (events * MEASURED.walBytesPerEvent + renewals * ASSUMED.walBytesPerRenewal) * DAY,
    storedBytes,
    dollarsPerMonth: replicas * ASSUMED.replicaPrice + shards * ASSUMED.shardPrice + disk,
  };
}

/** The plans of `docs/scaling.md` as a Markdown table. */
export function planTable(): string {
  const heads = ['running turns', 'load', 'writes/s', 'shards', 'replicas', 'WAL a day', 'stored', 'dollars a month'];
  const lines = [10_000, 1_000_000, 100_000_000].flatMap((running) =>
    PROFILES.map((profile, at) => {
      const plan = planFor(running, profile);
      return [
        at === 0 ? short(running) : '',
        profile.title,
        short(plan.writes),
        String(plan.shards),
        String(plan.replicas),
        bytes(plan.walBytesPerDay),
        bytes(plan.storedBytes),
        short(plan.dollarsPerMonth),
      ];
    }),
  );
  return markdown([heads, ...lines]);
}

function short(value: number): string {
  if (value >= 1e9) return `${rounded(value / 1e9)} billion`;
  if (value >= 1e6) return `${rounded(value / 1e6)} million`;
  return value >= 1e3 ? `${rounded(value / 1e3)} k` : String(Math.round(value));
}

function bytes(value: number): string {
  if (value >= 1e15) return `${rounded(value / 1e15)} PB`;
  return value >= 1e12 ? `${rounded(value / 1e12)} TB` : `${rounded(value / 1e9)} GB`;
}

/** Rounds to at least two significant digits. */
function rounded(value: number): string {
  return value >= 10 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, '');
}
