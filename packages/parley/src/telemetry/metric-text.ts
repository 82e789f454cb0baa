import type { MetricAttributes } from './meter.js';
import type { MetricFamily } from './metric-family.js';

/** The two text formats for scrapers. OpenMetrics has stricter rules. */
export type MetricFormat = 'prometheus' | 'openmetrics';

/** Units as suffixes of names. Units in braces have none. */
const UNITS: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', '1': 'ratio' };

/** Formats metric families as text for scrapers. Names and units follow the rules of OpenTelemetry. */
export function metricText(families: readonly MetricFamily[], format: MetricFormat): string {
  const text = families
    .filter(({ points }) => points.length > 0)
    .map((family) => familyText(family, format))
    .join('');
  return format === 'openmetrics' ? `${text}# EOF\n` : text;
}

function familyText(family: MetricFamily, format: MetricFormat): string {
  const unit = UNITS[family.unit];
  const name = nameOf(family.name, unit);
  const total = family.kind === 'counter' ? `${name}_total` : name;
  // OpenMetrics puts the name of the family here, the older format that of its samples.
  const subject = format === 'openmetrics' ? name : total;
  const lines = [`# TYPE ${subject} ${family.kind}`];
  if (format === 'openmetrics' && unit !== undefined) lines.push(`# UNIT ${subject} ${unit}`);
  if (family.description !== '') lines.push(`# HELP ${subject} ${escapeText(family.description, format)}`);
  if (family.kind === 'histogram') {
    for (const { attributes, count, sum, buckets } of family.points) {
      let below = 0;
      for (const [at, boundary] of [...family.boundaries, Number.POSITIVE_INFINITY].entries()) {
        below += buckets[at] ?? 0;
        lines.push(`${name}_bucket${labels({ ...attributes, le: numberOf(boundary, format) })} ${below}`);
      }
      lines.push(`${name}_sum${labels(attributes)} ${sum}`, `${name}_count${labels(attributes)} ${count}`);
    }
  } else {
    for (const { attributes, value } of family.points) lines.push(`${total}${labels(attributes)} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

function nameOf(name: string, unit: string | undefined): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_:]+/g, '_');
  return unit === undefined || plain.endsWith(`_${unit}`) ? plain : `${plain}_${unit}`;
}

function labels(attributes: MetricAttributes): string {
  const pairs = Object.entries(attributes).map(
    ([name, value]) => `${name.replaceAll(/\W+/g, '_')}="${escapeText(value, 'openmetrics')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeText(text: string, format: MetricFormat): string {
  const lines = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return format === 'openmetrics' ? lines.replaceAll('"', '\\"') : lines;
}

/** OpenMetrics writes integer boundaries with a decimal point. */
function numberOf(boundary: number, format: MetricFormat): string {
  if (boundary === Number.POSITIVE_INFINITY) return '+Inf';
  return format === 'openmetrics' && Number.isInteger(boundary) ? `${boundary}.0` : String(boundary);
}
