import type { ServerFigures } from '../../telemetry/merged-figures.js';
import type { MemoryFigures } from '../../telemetry/server-figures.js';

/**
 * The figures in the members that readers of JSON know: for people, and for those without a scraper. `now`: in ms since
 * the epoch.
 */
export function metricsJson(figures: Omit<ServerFigures, 'families'>, now: number): object {
  const { uptimeSeconds, requests, errors, errorsByCode, memory, cache } = figures;
  const { hits, misses } = cache ?? { hits: 0, misses: 0 };
  return {
    server: {
      uptime: Math.floor(uptimeSeconds),
      requests,
      errors,
      errorRate: percent(errors, requests),
      ...(memory && { memory: megabytes(memory) }),
    },
    errors: errorsByCode,
    cache: { hits, misses, hitRate: percent(hits, hits + misses) },
    timestamp: new Date(now).toISOString(),
  };
}

function megabytes({ rss, heapUsed, heapTotal }: MemoryFigures): Readonly<Record<keyof MemoryFigures, string>> {
  const text = (bytes: number) => `${Math.round(bytes / (1024 * 1024))}MB`;
  return { rss: text(rss), heapUsed: text(heapUsed), heapTotal: text(heapTotal) };
}

/** A part of a whole, such as `76.92%`. */
export function percent(part: number, whole: number): string {
  return `${(whole === 0 ? 0 : (part / whole) * 100).toFixed(2)}%`;
}
