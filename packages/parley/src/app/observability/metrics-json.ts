import type { CacheFigures, MemoryFigures, ProcessFigures, RequestFigures } from '../../telemetry/server-figures.js';

/** The sources of the figures of a server. */
export interface MetricsJsonOptions {
  readonly uptimeSeconds: number;
  readonly requests: RequestFigures;
  readonly process: ProcessFigures | undefined;
  readonly cache: CacheFigures | undefined;
  /** ms since the epoch. */
  readonly now: number;
}

/** The figures in the members that readers of JSON know: for people, and for those without a scraper. */
export function metricsJson({ uptimeSeconds, requests: figures, process, cache, now }: MetricsJsonOptions): object {
  const { requests, errors, errorsByCode } = figures;
  const { hits, misses } = cache ?? { hits: 0, misses: 0 };
  return {
    server: {
      uptime: Math.floor(uptimeSeconds),
      requests,
      errors,
      errorRate: percent(errors, requests),
      ...(process && { memory: megabytes(process.memory()) }),
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
