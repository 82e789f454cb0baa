import { AgentHost, type AgentHostOptions } from '../../app/agent-host.js';
import { type BoundBase, baseUrlOf } from '../../app/base-url.js';
import { OptionsError } from '../../errors/options-error.js';
import type { AgentCard } from '../../model/agent-card.js';
import { isLoopback } from '../../net/loopback.js';
import type { TrustedProxies } from '../../net/trusted-proxy.js';
import { toFetch } from '../fetch/to-fetch.js';
import { type BoundAddress, HttpServer, type HttpServerTimes } from './http-server.js';

export interface AgentServerOptions extends Omit<AgentHostOptions, 'baseUrl'> {
  readonly publicUrl?: string | undefined;
  readonly isTrustedProxy?: TrustedProxies | undefined;
  readonly allowAnonymous: boolean;
  readonly times: HttpServerTimes;
}

const WILDCARDS = ['0.0.0.0', '::'];

/** Agents behind a node:http server. */
export class AgentServer {
  readonly #options: AgentServerOptions;
  readonly #host: AgentHost;
  readonly #http: HttpServer;
  readonly #baseUrl: () => string;
  #bound: BoundBase | undefined;
  #closing: Promise<void> | undefined;
  readonly fetch: (request: Request) => Promise<Response>;

  constructor(options: AgentServerOptions) {
    const { publicUrl, isTrustedProxy, clock, logger } = options;
    const baseUrl = baseUrlOf({ publicUrl, isTrustedProxy, bound: () => this.#bound });
    this.#options = options;
    this.#baseUrl = baseUrl;
    this.#host = new AgentHost({ ...options, baseUrl });
    this.#http = new HttpServer({ ...options.times, exchange: this.#host.exchange, clock, logger });
    this.fetch = toFetch(this.#host.exchange);
  }

  /** The cards by path. Until the server listens they show interfaces only under a configured url. */
  get cards(): Readonly<Record<string, AgentCard>> {
    return this.#host.cards;
  }

  /** The base url that clients are told; "" until the server listens, unless it is configured. */
  get url(): string {
    return this.#baseUrl();
  }

  /**
   * Takes over what an earlier process left and accepts connections. `port` 0 takes a free one.
   * @throws OptionsError beyond loopback unless anonymous callers are allowed there.
   */
  async listen({ host, port }: BoundAddress): Promise<{ readonly url: string }> {
    if (!isLoopback(host) && !this.#options.allowAnonymous) {
      const problem = `listening on ${host} would let anybody in without authentication: set allowAnonymous if that is meant`;
      throw new OptionsError('listen', [problem]);
    }
    await this.#host.start();
    const bound = await this.#http.listen({ host, port });
    const wildcard = WILDCARDS.includes(bound.host);
    const name = wildcard ? '127.0.0.1' : bound.host.includes(':') ? `[${bound.host}]` : bound.host;
    this.#bound = { url: `http://${name}:${bound.port}`, wildcard };
    return { url: this.url };
  }

  /** Accepts nothing more, lets calls finish and turns end for `graceMs` each, then cuts what is left. */
  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#http.close(graceMs).then(() => this.#host.close(graceMs));
    return this.#closing;
  }
}
