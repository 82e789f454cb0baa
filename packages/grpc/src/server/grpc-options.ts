import { type Listed, listed, nonEmpty, pathSchema, pattern, type TlsOptions, tlsSchema } from 'parley-a2a/binding-kit';
import { count, eitherOf, flag, type OptionSchemas, optionObject, positive, Type } from 'parley-a2a/kit';

/** The options of `grpcBinding`. Times are in ms. */
export interface GrpcBindingOptions {
  /**
   * The port. 0 takes a free one. `shared`: that of the server, whose HTTP/2 connections are then those of gRPC.
   * Default: the port of the server + 1, or a free one if that is 0.
   * @see docs/grpc.md#one-port
   */
  readonly port?: number | 'shared';
  /** True if another free port is taken when the port is in use; default false. */
  readonly orAnotherPort?: boolean;
  /** The address that it listens at. Default: that of the server. */
  readonly host?: string;
  /** The path of the served agent. Default `/`, or the only agent. */
  readonly agent?: string;
  /**
   * The cards that list the interfaces: `public` for all, `extended` for the extended one only. Default `never`: some
   * clients refuse a whole card for an address that is not of the origin of the card.
   * @see docs/hosts.md#interfaces-that-a-card-lists
   */
  readonly listed?: Listed;
  /** `host:port` for the cards, such as `agents.example.com:443` of a proxy. Default: the host of their other urls. */
  readonly address?: string;
  /**
   * True if interfaces of 0.3 have a url as address, such as `http://127.0.0.1:8081`. Default: `host:port`, which the
   * official clients pass to their gRPC libraries.
   */
  readonly legacyUrls?: boolean;
  /** Bytes of one message, after decompression. Default: the limit of the agent, 10 MiB. */
  readonly maxMessageBytes?: number;
  /** Bytes of the metadata of one call; default 16 KiB. */
  readonly maxMetadataBytes?: number;
  /** Calls of one connection at the same time; default 1,000. */
  readonly maxStreams?: number;
  /**
   * Calls of all connections at the same time; default 10,000. Beyond it, a call that has sent nothing but its head
   * makes room.
   */
  readonly maxCalls?: number;
  /**
   * Bytes of answers that wait for the clients of all connections, above 64 KiB each; default 128 MiB. Beyond it the
   * largest connection of the address with the most ends.
   */
  readonly waitingBytes?: number;
  /** Connections at the same time; default 1,000. */
  readonly maxConnections?: number;
  /** Silence of a client after which the server pings it; default 60 s. */
  readonly keepAliveMs?: number;
  /** Longest time for the answer to a ping; default 20 s. */
  readonly keepAliveTimeoutMs?: number;
  /** The lifetime of a connection without calls; default 5 min. */
  readonly idleMs?: number;
  /** Longest time for the start of a new connection, with TLS; default 15 s. */
  readonly headersMs?: number;
  /** Longest time for a message to arrive; default 2 min. */
  readonly requestMs?: number;
  /** A client that reads nothing of a stream for this long is dropped; default 30 s. */
  readonly stallMs?: number;
  /** Certificate and key. False: no TLS, as for a proxy that ends it. Default: those of the server. */
  readonly tls?: TlsOptions | false;
  /** True if server reflection, v1 and v1alpha, tells the services to tools such as grpcurl; default true. */
  readonly reflection?: boolean;
  /** True if the service `grpc.health.v1.Health` is served; default true. */
  readonly health?: boolean;
}

const port = eitherOf(
  [
    Type.Literal('shared'),
    Type.Refine(
      count,
      (value) => Number(value) <= 65_535,
      () => 'must be at most 65535',
    ),
  ],
  'must be a port up to 65535, or "shared"',
);
const ms = Type.Optional(positive);

const schemas: OptionSchemas<GrpcBindingOptions> = {
  port: Type.Optional(port),
  orAnotherPort: Type.Optional(flag),
  host: Type.Optional(nonEmpty),
  agent: Type.Optional(pathSchema),
  listed,
  address: Type.Optional(
    pattern(/^[^/?#@\s]+:\d{1,5}$/, 'must be a host and a port, such as "agents.example.com:443"'),
  ),
  legacyUrls: Type.Optional(flag),
  maxMessageBytes: Type.Optional(positive),
  maxMetadataBytes: Type.Optional(positive),
  maxStreams: Type.Optional(positive),
  maxCalls: Type.Optional(positive),
  waitingBytes: Type.Optional(positive),
  maxConnections: Type.Optional(positive),
  keepAliveMs: ms,
  keepAliveTimeoutMs: ms,
  idleMs: ms,
  headersMs: ms,
  requestMs: ms,
  stallMs: ms,
  tls: Type.Optional(Type.Union([Type.Literal(false), tlsSchema])),
  reflection: Type.Optional(flag),
  health: Type.Optional(flag),
};

/** The schema of GrpcBindingOptions. */
export const grpcBindingSchema = optionObject(schemas);
