import { AgentHost, type AgentHostOptions } from '../../app/agent-host.js';
import { type BaseUrlRule, type BoundBase, baseUrlOf, forwardingOf } from '../../app/base-url.js';
import { checkExposure, type HttpServerTimes } from '../../app/options/server-options.js';
import type { TlsOptions } from '../../app/options/tls-options.js';
import { beginAtCaller } from '../../errors/callers-stack.js';
import { OptionsError } from '../../errors/options-error.js';
import type { AgentCard } from '../../model/agent-card.js';
import type { BoundInterface } from '../../model/bound-interface.js';
import { kindOf } from '../../model/kind-of.js';
import { type BoundAddress, HttpServer } from './http-server.js';
import { NodeProcessFigures } from './process-figures.js';
import { catchUncaughtErrors, processUncaughtErrors } from './process-uncaught-errors.js';
import { serverTls } from './server-tls.js';

/** Agents, and how they are reached. */
interface AgentServerOptions
  extends Omit<AgentHostOptions, 'baseUrl' | 'forwarding' | 'knownHosts' | 'uncaughtErrors' | 'process'> {
  readonly publicUrl?: string | undefined;
  readonly isTrustedProxy?: BaseUrlRule['isTrustedProxy'];
  readonly isPublicHost?: BaseUrlRule['isPublicHost'];
  /** The proxies of `isTrustedProxy`, for the log. */
  readonly trustProxy?: readonly string[] | undefined;
  readonly allowAnonymous: boolean;
  readonly times: HttpServerTimes;
  /** Absent: plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** True if an uncaught error of an agent ends only its task. */
  readonly containsUncaughtErrors: boolean;
}

/** The address of a server. */
export type BoundServer = BoundBase & BoundAddress;

/** Times of a shutdown, in ms. */
export interface CloseTimes {
  readonly graceMs: number;
  readonly drainMs: number;
}

/** Processes that listen in place of this one. */
interface OtherProcesses {
  start(): Promise<BoundServer>;
  close(times: CloseTimes): Promise<void>;
}

const WILDCARDS = ['0.0.0.0', '::'];

/** Time for which a closing server still answers requests on accepted connections. */
const LAST_REQUESTS_MS = 250;

/** Agents behind a node:http server. */
export class AgentServer {
  readonly #options: AgentServerOptions;
  readonly #host: AgentHost;
  readonly #http: HttpServer;
  readonly #baseUrl: () => string;
  readonly #figures: NodeProcessFigures | undefined;
  readonly #rule: BaseUrlRule & { bound?: BoundServer };
  /** Other processes that listen in place of this one. */
  #others: OtherProcesses | undefined;
  #closing: Promise<void> | undefined;
  /** The pending opening of the sockets. */
  #opening: Promise<unknown> | undefined;
  #release: (() => void) | undefined;

  constructor(options: AgentServerOptions) {
    const { publicUrl, isTrustedProxy, isPublicHost, clock, logger } = options;
    const rule = { publicUrl, isTrustedProxy, isPublicHost };
    const baseUrl = baseUrlOf(rule);
    this.#options = options;
    this.#rule = rule;
    this.#baseUrl = baseUrl;
    const uncaughtErrors = options.containsUncaughtErrors ? processUncaughtErrors : undefined;
    const isMeasured = options.metrics !== undefined || options.extensions.some(({ cacheFigures }) => cacheFigures);
    this.#figures = isMeasured ? new NodeProcessFigures(clock) : undefined;
    this.#host = new AgentHost({
      ...options,
      uncaughtErrors,
      baseUrl,
      forwarding: forwardingOf(rule),
      process: this.#figures,
      knownHosts: { isPublicHost, publicUrl, isTrustedProxy, boundHost: () => this.#rule.bound?.host },
    });
    const tls = options.tls && serverTls({ tls: options.tls, clock, logger });
    const { exchange, limitReached, refused } = this.#host;
    const takeHttp2 = options.extensions.find((extension) => extension.takeHttp2)?.takeHttp2;
    const acceptWebSocket = options.extensions.find((extension) => extension.acceptWebSocket)?.acceptWebSocket;
    const takesLongBodies = options.extensions.some((extension) => extension.takesLongBodies);
    this.#http = new HttpServer({
      ...options.times,
      exchange,
      limitReached,
      refused,
      clock,
      logger,
      tls,
      takeHttp2,
      acceptWebSocket,
      takesLongBodies,
    });
  }

  /** The interfaces by path, including those that no card lists. */
  get interfaces(): Readonly<Record<string, readonly BoundInterface[]>> {
    return this.#host.interfaces;
  }

  /** The public cards by path. Until the server listens they show interfaces only under a configured url. */
  get cards(): Readonly<Record<string, AgentCard>> {
    return this.#host.cards;
  }

  /** The tasks of the agent under a path, for the application's own code. */
  tasks(...args: Parameters<AgentHost['tasks']>): ReturnType<AgentHost['tasks']> {
    return this.#host.tasks(...args);
  }

  /** The push deliveries of the agent under a path, for the application's own code. */
  deliveries(path: string): ReturnType<AgentHost['deliveries']> {
    return this.#host.deliveries(path);
  }

  /** The exchange without a socket, and the function that reports limits of its readers. */
  get host(): Pick<AgentHost, 'exchange' | 'limitReached'> {
    return this.#host;
  }

  /** The base url in cards; "" until the server listens, unless it is configured. */
  get url(): string {
    return this.#baseUrl();
  }

  /**
   * Resumes the turns of an earlier process and accepts connections. `port` 0 takes a free one.
   * @throws OptionsError beyond loopback for agents without authentication, unless anonymous callers are allowed; Error
   * if the server is closed before it listens, or listens already.
   */
  async listen({ host, port }: BoundAddress): Promise<{ readonly url: string }> {
    this.#mustBeOpen();
    this.#mustBeUnbound();
    checkPort(port);
    const { allowAnonymous, logger } = this.#options;
    const { openPaths } = this.#host;
    const warning = checkExposure({ host, openPaths, allowAnonymous });
    if (this.#options.containsUncaughtErrors) this.#release ??= catchUncaughtErrors();
    await this.#host.start();
    if (this.#closing !== undefined) await this.#host.close(0);
    this.#mustBeOpen();
    this.#opening = this.#open({ host, port });
    await this.#opening;
    const { protectionOf } = await import('../../app/protection.js');
    const { url } = this;
    const protection = protectionOf(this.#options, openPaths);
    logger.info(`serving ${url}`, { address: host, port: this.#rule.bound?.port, ...protection });
    if (warning !== undefined) logger.warn(warning);
    return { url };
  }

  /** Lets other processes listen. A close closes them. */
  async listenElsewhere({ host, port }: BoundAddress, others: OtherProcesses): Promise<{ readonly url: string }> {
    this.#mustBeOpen();
    this.#mustBeUnbound();
    checkPort(port);
    checkExposure({ host, openPaths: this.#host.openPaths, allowAnonymous: this.#options.allowAnonymous });
    this.#others = others;
    try {
      this.#rule.bound = await others.start();
    } catch (error) {
      await others.close({ graceMs: 0, drainMs: 0 });
      throw error;
    }
    return { url: this.url };
  }

  /** The address, once the server listens. */
  get bound(): BoundServer | undefined {
    return this.#rule.bound;
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined) throw new Error('The server is closed. A new one can listen');
  }

  #mustBeUnbound(): void {
    if (this.#rule.bound === undefined) return;
    const { url } = this.#rule.bound;
    throw beginAtCaller(new Error(`The server listens already, on ${url}. Another server can take a port`));
  }

  async #open({ host, port }: BoundAddress): Promise<void> {
    this.#figures?.start();
    const { tls, allowAnonymous } = this.#options;
    await this.#http.takeWebSockets();
    await this.#http.sharePort();
    // `port` may be a string: untyped programs pass that of an environment variable.
    await this.#host.listen({ host, port: Number(port), tls, allowAnonymous });
    const bound = await this.#listenAt({ host, port });
    const wildcard = WILDCARDS.includes(bound.host);
    const name = wildcard ? '127.0.0.1' : bound.host.includes(':') ? `[${bound.host}]` : bound.host;
    const scheme = this.#options.tls === undefined ? 'http' : 'https';
    this.#rule.bound = { url: `${scheme}://${name}:${bound.port}`, wildcard, ...bound };
  }

  async #listenAt(place: BoundAddress): Promise<BoundAddress> {
    try {
      return await this.#http.listen(place);
    } catch (error) {
      await this.#host.closeSockets();
      throw listenError(error, place);
    }
  }

  /**
   * Fails `/readyz` from now on, and accepts no more connections after `drainMs`. Lets turns, calls and streams end for
   * `graceMs`, then aborts the rest.
   */
  close(times: CloseTimes): Promise<void> {
    this.#closing ??= this.#options.clock.hold(this.#others?.close(times) ?? this.#drain(times));
    return this.#closing;
  }

  async #drain({ graceMs, drainMs }: CloseTimes): Promise<void> {
    this.#host.drain();
    await this.#opening?.catch(() => {});
    if (drainMs > 0) await new Promise<void>((resolve) => this.#options.clock.after(drainMs, resolve));
    this.#http.stopAccepting();
    await this.#http.awaitRequests(Math.min(graceMs, LAST_REQUESTS_MS));
    this.#host.stopAccepting();
    await this.#host.close(graceMs);
    await this.#http.close(graceMs);
    this.#figures?.close();
    this.#release?.();
  }
}

/** Checks a port, which untyped programs may pass as a string. */
function checkPort(port: unknown): void {
  const isPort = (typeof port === 'number' || typeof port === 'string') && /^\d{1,5}$/.test(String(port));
  if (isPort && Number(port) <= 65_535) return;
  const given = typeof port === 'number' ? port : kindOf(port);
  throw new OptionsError('listen', [`port: must be a whole number from 0 to 65535, not ${given}`]);
}

/** The error codes of an address that cannot be used, and their remedies. */
const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has the port. Stop it, or listen on another port; port 0 is a free one',
  EACCES: 'this user may not take the port. Take one from 1024 on',
  EADDRNOTAVAIL: 'the host is no address of this machine. Use 127.0.0.1, or 0.0.0.0 for all of its addresses',
  ENOTFOUND: 'the host has no address. Use 127.0.0.1, or 0.0.0.0 for all addresses of this machine',
};

/** The error of a server that cannot listen. It keeps the code of its cause. */
function listenError(cause: unknown, { host, port }: BoundAddress): unknown {
  const { code = '' } = Object(cause) as { readonly code?: string };
  const fault = LISTEN_FAULTS[code];
  if (fault === undefined) return cause;
  const error = new Error(`Cannot listen on ${host}:${port} (${code}): ${fault}`, { cause });
  return Object.assign(beginAtCaller(error), { code });
}
