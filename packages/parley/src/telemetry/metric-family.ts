import type { MetricAttributes } from './meter.js';

/** One value of a counter or gauge. */
export interface MetricPoint {
  readonly attributes: MetricAttributes;
  readonly value: number;
}

/** One distribution. */
export interface HistogramPoint {
  readonly attributes: MetricAttributes;
  readonly count: number;
  readonly sum: number;
  /** Number of values in each bucket. There is one more bucket than boundaries. */
  readonly buckets: readonly number[];
}

interface FamilyHead {
  readonly name: string;
  readonly description: string;
  /** Empty if there is no unit. */
  readonly unit: string;
}

/** All series of one instrument at one moment. */
export type MetricFamily = FamilyHead &
  (
    | { readonly kind: 'counter' | 'gauge'; readonly points: readonly MetricPoint[] }
    | { readonly kind: 'histogram'; readonly boundaries: readonly number[]; readonly points: readonly HistogramPoint[] }
  );
