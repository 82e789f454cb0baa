import { afterEach, expect } from 'vitest';
import { AgentHost } from '../src/app/agent-host.js';
import { baseServerExtension } from '../src/app/base-server/base-server-extension.js';
import { type BaseServerOptions, DEFAULT_TTL_SECONDS } from '../src/app/base-server/base-server-options.js';
import { healthExtension } from '../src/app/observability/health-endpoints.js';
import type { AgentOptions } from '../src/app/options/agent-options.js';
import { BodyBudget } from '../src/bindings/http/body-budget.js';
import type { AnswerCache, CacheLink } from '../src/cache/answer-cache.js';
import { MemoryCache } from '../src/cache/memory/memory-cache.js';
import { ReadThrough } from '../src/cache/read-through.js';
import { CacheError } from '../src/errors/cache-error.js';
import { StorageError } from '../src/errors/storage-error.js';
import { systemClock } from '../src/exports/runtime.js';
import { MemoryStorage } from '../src/store/memory/memory-storage.js';
import { CountingIds } from './counting-ids.js';
import { CapturingLogger } from './engine.js';
import { jsonOf, MemoryRequest, type MemoryRequestOptions, textOf } from './exchange-request.js';
import { ManualClock } from './manual-clock.js';

/** Address of the server. */
export const BASE = 'http://agents.example';
/** Bytes of a megabyte. */
export const MIB = 1024 * 1024;

/** A storage that can be broken. */
export class BreakableStorage extends MemoryStorage {
  broken = false;
  override check() {
    return this.broken ? Promise.reject(new StorageError('disk full')) : super.check();
  }
}

/** A cache with a server of its own that can be broken. */
export class LinkedCache implements AnswerCache {
  readonly #inner: AnswerCache;
  broken = false;
  constructor(inner: AnswerCache) {
    this.#inner = inner;
  }
  get link(): CacheLink {
    const idle = this.broken ? 0 : 2;
    return { status: this.broken ? 'disconnected' : 'connected', connections: { active: 0, idle, total: idle } };
  }
  get = (key: string) => this.#unlessBroken(() => this.#inner.get(key));
  set = (key: string, text: string, ttlMs: number) => this.#unlessBroken(() => this.#inner.set(key, text, ttlMs));
  invalidate = (pattern: string) => this.#unlessBroken(() => this.#inner.invalidate(pattern));
  close = () => this.#inner.close();
  #unlessBroken<T>(work: () => Promise<T>): Promise<T> {
    return this.broken ? Promise.reject(new CacheError('gone')) : work();
  }
}

/** Differences from a server with defaults. */
export interface Setting {
  readonly agent?: Partial<AgentOptions>;
  /** By default pages of any origin may call, and callers may change the cache. */
  readonly options?: BaseServerOptions;
  readonly linked?: boolean;
  /** Uses real time, because an agent runs. */
  readonly live?: boolean;
}

const hosts: AgentHost[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close(0);
});

/** A base server around an agent. Its clock stands still unless `live` is set. */
export function baseServerWorld({ agent = {}, options = {}, linked = false, live = false }: Setting = {}) {
  const manual = new ManualClock();
  const clock = live ? systemClock : manual;
  const logger = new CapturingLogger();
  const storage = new BreakableStorage({ clock });
  const memory = new MemoryCache({ clock });
  const cache = linked ? new LinkedCache(memory) : memory;
  const greeter = {
    name: 'Greeter',
    agent: (prompt: string) => `Hello, ${prompt}`,
    skills: [{ id: 'greet', name: 'Greet', description: 'Greets', examples: ['hi'] }],
    provider: { organization: 'Org', url: 'https://org.example' },
    ...agent,
  } as AgentOptions;
  const host = new AgentHost({
    agents: { '/hello': greeter, '/': { agent: (prompt: string) => prompt } },
    storage,
    clock,
    ids: new CountingIds(),
    logger,
    bodies: new BodyBudget({ clock }),
    heartbeatMs: 15_000,
    cardMaxAgeSeconds: 60,
    baseUrl: () => BASE,
    extensions: [
      baseServerExtension({
        options: { cors: '*', cacheChanges: true, ...options },
        path: '/hello',
        cache,
        texts: new ReadThrough({ cache, ttlMs: (options.cacheTtlSeconds ?? DEFAULT_TTL_SECONDS) * 1000 }),
      }),
      healthExtension,
    ],
    metrics: {},
    logRequests: false,
    process: {
      pid: 42,
      memory: () => ({ rss: 50 * MIB, heapUsed: 10.4 * MIB, heapTotal: 20 * MIB }),
      cpu: () => 1,
      uptime: () => 1,
      eventLoopDelay: () => ({ mean: 0, p50: 0, p99: 0, max: 0 }),
    },
  });
  hosts.push(host);
  const send = (parts: MemoryRequestOptions, peer?: string | undefined) => {
    const request = new MemoryRequest(parts);
    return host.exchange(peer === undefined ? request : Object.assign(request, { peer }));
  };
  const get = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await send({ method: 'GET', url, headers });
    return { ...answer, json: (await jsonOf(answer)) as Record<string, unknown> };
  };
  const post = async (url: string, body: unknown, headers: Record<string, string> = {}, peer?: string) => {
    const answer = await send(
      { method: 'POST', url, body, headers: { 'content-type': 'application/json', ...headers } },
      peer,
    );
    return { ...answer, json: JSON.parse((await textOf(answer)) || 'null') as Record<string, unknown> };
  };
  const rpc = (url: string, method: string, params: unknown, headers = {}) =>
    post(url, { jsonrpc: '2.0', id: 7, method, params }, headers);
  /** Advances until the next check of health and cache. */
  const later = () => manual.advance(1_000);
  return { host, clock: manual, storage, cache, logger, send, get, post, rpc, later };
}

/** A time on the wire. */
export const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
