import { isTimestamp, toUtc } from 'parley-a2a/binding-kit';

const EARLIEST_S = -62_135_596_800;
const LATEST_S = 253_402_300_799;
const NANOS_PER_S = 1_000_000_000;
const SECONDS_LENGTH = '2026-01-31T12:00:00'.length;

/**
 * Converts a `google.protobuf.Timestamp` to a text of the model, with 3, 6 or 9 digits of its second. A moment outside
 * of the years 1 to 9999 becomes a text that is no timestamp.
 */
export function timestampText(seconds: number, nanos: number): string {
  if (seconds < EARLIEST_S || seconds > LATEST_S || nanos < 0 || nanos >= NANOS_PER_S) return `${seconds}s ${nanos}ns`;
  const text = new Date(seconds * 1000).toISOString().slice(0, SECONDS_LENGTH);
  const digits = String(nanos).padStart(9, '0');
  const shown = nanos % 1_000_000 === 0 ? 3 : nanos % 1000 === 0 ? 6 : 9;
  return `${text}.${digits.slice(0, shown)}Z`;
}

/** The parts of a timestamp. */
interface Instant {
  readonly seconds: number;
  readonly nanos: number;
}

/** Converts a timestamp with any offset to the parts of a `google.protobuf.Timestamp`; undefined if it is none. */
export function instantOf(timestamp: string): Instant | undefined {
  const text = isTimestamp(timestamp) ? timestamp : toUtc(timestamp);
  if (!isTimestamp(text)) return undefined;
  const nanos = text.slice(SECONDS_LENGTH + 1, -1);
  return { seconds: Date.parse(`${text.slice(0, SECONDS_LENGTH)}Z`) / 1000, nanos: Number(nanos.padEnd(9, '0')) };
}
