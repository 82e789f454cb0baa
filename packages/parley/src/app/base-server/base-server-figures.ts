import type { AnswerCache, CacheLink } from '../../cache/answer-cache.js';
import type { ReadThrough } from '../../cache/read-through.js';
import type { Clock } from '../../runtime/clock.js';
import type { ProcessFigures } from '../../telemetry/server-figures.js';
import { percent } from '../observability/metrics-json.js';

/** The sources of the figures. */
interface FigureSources {
  readonly clock: Clock;
  readonly process: ProcessFigures | undefined;
  readonly cache: AnswerCache;
  readonly texts: ReadThrough;
}

const NO_LINK = { status: 'disabled', connections: { active: 0, idle: 0, total: 0 } } as const;

/** The figures of a base server, in the members that its clients know. */
export class BaseServerFigures {
  readonly #sources: FigureSources;
  readonly #startedAt: number;

  constructor(sources: FigureSources) {
    this.#sources = sources;
    this.#startedAt = sources.clock.monotonic();
  }

  /** In whole seconds. */
  get uptime(): number {
    return Math.floor((this.#sources.clock.monotonic() - this.#startedAt) / 1000);
  }

  get timestamp(): string {
    return new Date(this.#sources.clock.now()).toISOString();
  }

  /** The connection of the cache to Redis; `disabled` without Redis. */
  get redis(): CacheLink | typeof NO_LINK {
    return this.#sources.cache.link ?? NO_LINK;
  }

  health({ name, status: agentStatus }: { readonly name: string; readonly status: string }): object {
    const { process } = this.#sources;
    const { status, connections } = this.redis;
    return {
      status: 'healthy',
      agent: { name, status: agentStatus, uptime: this.uptime },
      server: { uptime: this.uptime, ...(process && { memory: process.memory(), pid: process.pid }) },
      cache: {
        status,
        health: status === 'disconnected' ? 'unhealthy' : 'healthy',
        connections,
        stats: this.#hits(),
      },
      timestamp: this.timestamp,
    };
  }

  cacheStats(): object {
    const { operations } = this.#sources.texts.figures;
    return { cache: { ...this.#hits(), operations }, redis: this.redis, timestamp: this.timestamp };
  }

  #hits() {
    const { hits, misses } = this.#sources.texts.figures;
    return { hits, misses, hitRate: percent(hits, hits + misses) };
  }
}
