import type { Socket } from 'node:net';
import {
  type AgentMount,
  type BoundInterface,
  checkExposure,
  type HostEndpoint,
  type HostExtension,
  type HostView,
  isLegacy,
  type ListenAddress,
} from 'parley-a2a/binding-kit';
import { OptionsError } from 'parley-a2a/kit';
import type { GrpcBindingOptions } from './grpc-options.js';
import type { LoadGrpcCodecs, ServedGrpc } from './served-grpc.js';

/** The name of the binding in cards and records (Spec §5.2). */
export const GRPC = 'GRPC';
/** The versions with a protobuf definition, the newest first. */
const VERSIONS = ['1.0', '0.3'] as const;
const DEFAULT_PORTS = { http: '80', https: '443' } as const;
const WILDCARDS = ['0.0.0.0', '::'];

/** gRPC for one agent of a host, on its own port or on that of the server. */
export class GrpcBinding implements HostExtension {
  readonly #options: GrpcBindingOptions;
  readonly #loadCodecs: LoadGrpcCodecs;
  #host: HostView | undefined;
  #served: ServedGrpc | undefined;
  /** The port, while it listens; `shared` for that of the server. */
  #bound: number | 'shared' | undefined;
  #scheme: 'http' | 'https' = 'http';

  constructor(options: GrpcBindingOptions, loadCodecs: LoadGrpcCodecs) {
    this.#options = options;
    this.#loadCodecs = loadCodecs;
  }

  endpoints(host: HostView): readonly HostEndpoint[] {
    if (this.#bound !== undefined) throw new OptionsError('grpcBinding', ['it serves another server already']);
    this.#host = host;
    this.#mountOf(host);
    return [];
  }

  interfaces(mount: AgentMount, base: string): readonly BoundInterface[] {
    if (this.#bound === undefined || this.#host === undefined) return [];
    if (mount.agent !== this.#mountOf(this.#host).agent) return [];
    const { address = this.#addressUnder(base), legacyUrls, listed = 'never' } = this.#options;
    const urlOf = (version: string) =>
      legacyUrls === true && isLegacy(version) ? `${this.#scheme}://${address}` : address;
    return VERSIONS.filter((version) => mount.versions.includes(version)).map((protocolVersion) => ({
      url: urlOf(protocolVersion),
      protocolBinding: GRPC,
      protocolVersion,
      listed,
    }));
  }

  async listen(address: ListenAddress): Promise<void> {
    const host = this.#host;
    if (host === undefined || this.#bound !== undefined) return;
    const mount = this.#mountOf(host);
    const { host: name = address.host, orAnotherPort } = this.#options;
    const { port = portAfter(address.port) } = this.#options;
    const openPaths = mount.agent.isOpen ? [mount.path] : [];
    checkExposure({ host: name, openPaths, allowAnonymous: address.allowAnonymous === true });
    const { tls: own = address.tls } = this.#options;
    const tls = own === false ? undefined : own;
    this.#scheme = (port === 'shared' ? address.tls : tls) === undefined ? 'http' : 'https';
    const { serveGrpc } = await import('./served-grpc.js');
    const setup = {
      host,
      mount,
      tls: port === 'shared' ? undefined : tls,
      options: this.#options,
      codecs: await this.#loadCodecs(),
    };
    const served = serveGrpc(setup);
    if (port === 'shared') {
      served.start();
      this.#bound = port;
      this.#served = served;
      return;
    }
    try {
      this.#bound = await served.listen({ host: name, port, orAnotherPort: orAnotherPort === true });
    } catch (error) {
      throw portError(error, port);
    }
    this.#served = served;
  }

  /** Absent if the binding has its own port. */
  get takeHttp2(): ((socket: object) => void) | undefined {
    if (this.#options.port !== 'shared') return undefined;
    return (socket) =>
      this.#served === undefined ? (socket as Socket).destroy() : this.#served.take(socket as Socket);
  }

  stopAccepting(): void {
    this.#served?.stopAccepting();
  }

  async close(graceMs: number): Promise<void> {
    const served = this.#served;
    this.#served = undefined;
    await served?.close(graceMs);
    this.#bound = undefined;
  }

  #mountOf({ mounts }: HostView): AgentMount {
    const { agent } = this.#options;
    const path = agent ?? (mounts.length === 1 ? mounts[0]?.path : '/');
    const mount = mounts.find((one) => one.path === path);
    if (mount === undefined) throw new OptionsError('grpcBinding', [`agent: no agent is served at "${path}"`]);
    return mount;
  }

  #addressUnder(base: string): string {
    if (this.#bound !== 'shared') return `${this.#nameUnder(base)}:${this.#bound}`;
    const { hostname, port } = URL.parse(base) ?? { hostname: 'localhost', port: '' };
    return `${hostname}:${port === '' ? DEFAULT_PORTS[this.#scheme] : port}`;
  }

  /** The address in cards. */
  #nameUnder(base: string): string {
    const { host } = this.#options;
    if (host !== undefined && !WILDCARDS.includes(host)) return host.includes(':') ? `[${host}]` : host;
    return URL.canParse(base) ? new URL(base).hostname : 'localhost';
  }
}

/** The port after that of the server; a free one if the server takes a free one, too. */
function portAfter(port: number): number {
  return port === 0 || port === 65_535 ? 0 : port + 1;
}

function portError(error: unknown, port: number): unknown {
  if ((error as { readonly code?: unknown }).code !== 'EADDRINUSE') return error;
  const told = `port: ${port} is in use. Choose another one, or 0 for a free one`;
  return new OptionsError('grpcBinding', [told]);
}
