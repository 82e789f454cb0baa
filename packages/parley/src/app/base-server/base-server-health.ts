import type { ExchangeResponse } from '../../bindings/http/exchange.js';
import type { ReadThrough } from '../../cache/read-through.js';
import { jsonAnswer } from '../json-answer.js';
import type { ReadinessReport } from '../observability/readiness.js';
import type { BaseServerFigures } from './base-server-figures.js';

/** The sources of the health of a base server. */
interface BaseServerHealthOptions {
  readonly agentName: string;
  readonly figures: BaseServerFigures;
  readonly texts: ReadThrough;
  /**
   * An id that differs between processes, so that processes with a common cache do not answer with each other's health.
   */
  readonly instance: string;
  readonly readiness: () => Promise<ReadinessReport>;
}

/**
 * The answers of `/health`, cached for a while. Each request checks the storage and the cache first. A change of their
 * health drops the cached answer. Answers of an unhealthy server are not cached.
 */
export class BaseServerHealth {
  readonly #options: BaseServerHealthOptions;
  #state: string | undefined;
  /**
   * A part of the key in the cache. It grows with every change, so that no request finds an answer from before the
   * change.
   */
  #changes = 0;

  constructor(options: BaseServerHealthOptions) {
    this.#options = options;
  }

  async answer(): Promise<ExchangeResponse> {
    const { figures, texts } = this.#options;
    const { failing, text } = await this.#look();
    if (failing.length > 0) {
      const error = `Health check failed: ${failing.join(', ')}`;
      const value = { error, status: 'unhealthy', timestamp: figures.timestamp };
      return jsonAnswer({ status: 500, value, headers: { 'cache-control': 'no-store' } });
    }
    const body = await texts.text(this.#key(), text);
    return { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body };
  }

  /**
   * Caches a new answer. Resolves to the number of cached answers: 0 while the server is not healthy, otherwise 1.
   * @throws CacheError
   */
  async warm(): Promise<number> {
    const { failing, text } = await this.#look();
    if (failing.length > 0) return 0;
    await this.#options.texts.keep(this.#key(), text());
    return 1;
  }

  /** The current state. A change since the last look begins a new answer. */
  async #look(): Promise<{ readonly failing: readonly string[]; readonly text: () => string }> {
    const { agentName, figures, texts, readiness } = this.#options;
    const { status, checks } = await readiness();
    const draining = status === 'draining';
    const failing = Object.keys(checks).filter((name) => checks[name]?.status === 'failing' && checks[name].required);
    const state = [status, ...failing, figures.redis.status].join();
    if (state !== this.#state) {
      if (this.#state !== undefined) texts.invalidate(this.#key()).catch(() => {});
      this.#state = state;
      this.#changes++;
    }
    return {
      failing,
      text: () => JSON.stringify(figures.health({ name: agentName, status: draining ? 'stopping' : 'running' })),
    };
  }

  #key(): string {
    return `health:${this.#options.instance}:${this.#changes}`;
  }
}
