import type { Client as GrpcClient, Metadata } from '@grpc/grpc-js';
import { Destinations, isLoopback } from 'parley-a2a/binding-kit';
import type { TransportLimits } from 'parley-a2a/client';
import { A2AError, ConnectionError } from 'parley-a2a/kit';
import { type GrpcAddress, hostAndPort } from './grpc-address.js';

/** Certificates of a client, as PEM. */
export interface GrpcTls {
  /** Authorities of server certificates. Default: those of Node.js. */
  readonly ca?: string;
  /** The client certificate for mutual TLS, with its chain. Needs `key`. */
  readonly cert?: string;
  readonly key?: string;
}

/** The options of `GrpcChannels`. */
interface GrpcChannelsOptions {
  readonly plaintext: boolean;
  readonly tls: GrpcTls | undefined;
  /** Time without a call after which a connection is closed, in ms. */
  readonly idleMs: number;
  /** Looks up all addresses of a name; undefined on hosts that cannot check addresses. */
  readonly lookup: ((name: string) => Promise<readonly { readonly address: string }[]>) | undefined;
}

/** The limits that are part of a channel. */
type ChannelLimits = Pick<TransportLimits, 'answerBytes' | 'eventBytes' | 'answerItems' | 'isTrusted' | 'isInside'>;

/** A channel in use. */
export interface GrpcChannel {
  readonly client: GrpcClient;
  /** Makes the metadata of a call. */
  newMetadata(): Metadata;
  /** Releases the channel. The last user closes it. */
  release(): void;
}

interface SharedChannel {
  readonly opening: Promise<Omit<GrpcChannel, 'release'>>;
  users: number;
}

const WITHOUT_LISTED = new Destinations({});
/** More frequent pings may look like an attack to servers. */
const KEEPALIVE_MS = 300_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

/**
 * Channels by address, shared by the clients of one `grpcTransport()`. A channel connects on the first call and
 * reconnects after a loss, but not while it is idle. Its sockets and timers do not keep the process alive.
 */
export class GrpcChannels {
  readonly #options: GrpcChannelsOptions;
  readonly #shared = new Map<string, SharedChannel>();

  constructor(options: GrpcChannelsOptions) {
    this.#options = options;
  }

  /**
   * True if the calls of an address use TLS. Addresses without a scheme do, except for loopback.
   * @throws ConnectionError for plain http beyond loopback, unless the caller allows it.
   */
  isSecure({ host, port, isSecure }: GrpcAddress): boolean {
    const { plaintext, tls } = this.#options;
    const isLocal = isLoopback(host);
    if (isSecure === false && !isLocal && !plaintext) {
      const place = hostAndPort({ host, port });
      throw new ConnectionError(`${place} is not called without TLS. Allow it by grpcTransport({ plaintext: true })`, {
        sent: false,
      });
    }
    return isSecure ?? (tls !== undefined || !(isLocal || plaintext));
  }

  /**
   * Resolves with the channel of an address.
   * @throws A2AError if the address is private and its host is not trusted; ConnectionError if it cannot be looked up.
   */
  async open(address: GrpcAddress, limits: ChannelLimits): Promise<GrpcChannel> {
    const target = await this.#target(address, limits);
    const isSecure = this.isSecure(address);
    const messageBytes = Math.max(limits.answerBytes, limits.eventBytes);
    const key = [target, hostAndPort(address), isSecure, messageBytes].join(' ');
    const known = this.#shared.get(key);
    const shared = known ?? { opening: this.#make({ address, target, isSecure, messageBytes }), users: 0 };
    this.#shared.set(key, shared);
    shared.users += 1;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      if (this.#shared.get(key) === shared) this.#shared.delete(key);
      shared.opening.then(
        ({ client }) => client.close(),
        () => {},
      );
    };
    try {
      return { ...(await shared.opening), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The name of a trusted address, or the checked IP addresses of another one, because DNS may change later. */
  async #target(address: GrpcAddress, { isTrusted, isInside }: ChannelLimits): Promise<string> {
    const { lookup } = this.#options;
    const { host, port } = address;
    const place = hostAndPort(address);
    if (lookup === undefined || isTrusted(`https://${place}`) || (await isInside())) return `dns:${place}`;
    const found = await lookup(host).catch((cause: unknown) => {
      throw new ConnectionError(`${place} cannot be reached: its name cannot be looked up`, { sent: false, cause });
    });
    if (found.length === 0 || !found.every((one) => WITHOUT_LISTED.allows({ host, port }, one.address))) {
      const reason = 'its address is not public, and the caller did not name it';
      throw new A2AError('INVALID_AGENT_RESPONSE', `${place} is not called: ${reason}. See trustedOrigins`);
    }
    const isV6 = found[0]?.address.includes(':') === true;
    const places = found.filter((one) => one.address.includes(':') === isV6);
    return `ipv${isV6 ? 6 : 4}:${places.map((one) => hostAndPort({ host: one.address, port })).join(',')}`;
  }

  async #make({ address, target, isSecure, messageBytes }: ChannelOptions): SharedChannel['opening'] {
    const { Client, credentials, Metadata } = await import('@grpc/grpc-js');
    const { tls = {}, idleMs } = this.#options;
    const [ca, key, cert] = [tls.ca, tls.key, tls.cert].map((pem) => (pem === undefined ? null : Buffer.from(pem)));
    const { host } = address;
    const client = new Client(target, isSecure ? credentials.createSsl(ca, key, cert) : credentials.createInsecure(), {
      'grpc.default_authority': hostAndPort(address),
      ...(isSecure && { 'grpc.ssl_target_name_override': host }),
      'grpc.max_receive_message_length': messageBytes,
      'grpc.client_idle_timeout_ms': idleMs,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
      // The client itself retries. A new channel must not wait because of the failures of another.
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
      // Neither DNS records nor the environment may redirect calls.
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_http_proxy': 0,
    });
    return { client, newMetadata: () => new Metadata() };
  }
}

interface ChannelOptions {
  readonly address: GrpcAddress;
  readonly target: string;
  readonly isSecure: boolean;
  readonly messageBytes: number;
}
