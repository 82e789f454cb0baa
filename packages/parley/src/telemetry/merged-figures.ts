import type { HistogramPoint, MetricFamily, MetricPoint } from './metric-family.js';
import { METRICS } from './metric-names.js';
import type { CacheFigures, ErrorFigures, MemoryFigures, RequestFigures } from './server-figures.js';

/** All figures of a process, as JSON. */
export interface ServerFigures extends RequestFigures {
  readonly families: readonly MetricFamily[];
  readonly uptimeSeconds: number;
  readonly memory?: MemoryFigures;
  readonly cache?: CacheFigures;
}

/** Gauges that are added over the processes. For all others, a server reports the maximum of its processes. */
const SUMMED: ReadonlySet<string> = new Set(
  [METRICS.tasksInProgress, METRICS.streamsOpen, METRICS.pushInFlight, METRICS.memory, METRICS.heap].map(
    ({ name }) => name,
  ),
);

/** Merges the figures of several processes into those of one server. */
export function mergedFigures(all: readonly ServerFigures[]): ServerFigures {
  const [first, ...others] = all;
  if (first === undefined) throw new TypeError('There are no figures');
  return others.reduce(mergeFigures, first);
}

function mergeFigures(one: ServerFigures, other: ServerFigures): ServerFigures {
  const memory = sumFigures(one.memory, other.memory);
  const cache = sumFigures(one.cache, other.cache);
  return {
    families: one.families.map((family) => mergedFamily(family, other.families)),
    uptimeSeconds: Math.max(one.uptimeSeconds, other.uptimeSeconds),
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    errorsByCode: {
      http: sumFigures(one.errorsByCode.http, other.errorsByCode.http),
      jsonRpc: sumFigures(one.errorsByCode.jsonRpc, other.errorsByCode.jsonRpc),
      stream: sumFigures(one.errorsByCode.stream, other.errorsByCode.stream),
    } satisfies ErrorFigures,
    ...(memory && { memory }),
    ...(cache && { cache }),
  };
}

/** Adds two sets of numbers by name. */
function sumFigures<Figures extends object | undefined>(one: Figures, other: Figures): Figures {
  const sum: Record<string, number> = { ...(one as Record<string, number>) };
  for (const [name, value] of Object.entries((other ?? {}) as Record<string, number>))
    sum[name] = (sum[name] ?? 0) + value;
  return (one === undefined && other === undefined ? undefined : sum) as Figures;
}

function mergedFamily(family: MetricFamily, others: readonly MetricFamily[]): MetricFamily {
  const other = others.find(({ name, kind }) => name === family.name && kind === family.kind);
  if (other === undefined) return family;
  if (family.kind === 'histogram') {
    return { ...family, points: mergedPoints(family.points, other.points as readonly HistogramPoint[], addBuckets) };
  }
  const isSum = family.kind === 'counter' || SUMMED.has(family.name);
  const add = (one: MetricPoint, two: MetricPoint) => ({
    ...one,
    value: isSum ? one.value + two.value : Math.max(one.value, two.value),
  });
  return { ...family, points: mergedPoints(family.points, other.points as readonly MetricPoint[], add) };
}

function addBuckets(one: HistogramPoint, other: HistogramPoint): HistogramPoint {
  const buckets = one.buckets.map((count, at) => count + (other.buckets[at] ?? 0));
  return { ...one, count: one.count + other.count, sum: one.sum + other.sum, buckets };
}

/** Merges the points of both lists by their attributes. */
function mergedPoints<Point extends MetricPoint | HistogramPoint>(
  ones: readonly Point[],
  others: readonly Point[],
  add: (one: Point, other: Point) => Point,
): readonly Point[] {
  const points = new Map<string, Point>();
  for (const point of [...ones, ...others]) {
    const key = JSON.stringify(Object.entries(point.attributes).sort());
    const known = points.get(key);
    points.set(key, known === undefined ? point : add(known, point));
  }
  return [...points.values()];
}
